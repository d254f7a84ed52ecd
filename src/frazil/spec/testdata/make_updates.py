#!/usr/bin/env python3
"""Makes updates.json: what PyIceberg makes of new tables and of table updates. Run from the repository's root;
pip install 'pyiceberg[sql-sqlite]'.

{"maker": "pyiceberg 0.12.0",
 "tables": [{"schema": {...}, "spec": {...}, "order": {...}, "metadata": {...}}],       // new_table_metadata
 "updates": [{"name": S, "base": {...}, "updates": [{...}], "metadata": {...}}],        // update_table_metadata
 "requirements": [{...}]}                                                               // one of each kind"""
import json
import uuid

import pyiceberg
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.table.statistics import BlobMetadata, PartitionStatisticsFile, StatisticsFile
from pyiceberg.table.update import *
from pyiceberg.transforms import parse_transform
from pyiceberg.types import *

UUID = uuid.UUID("9c12d441-03fe-4693-9a96-a0705ddf69c1")


def dump(model):
    return json.loads(model.model_dump_json(by_alias=True, exclude_none=True))


def field(id, name, type, required=False):
    return NestedField(field_id=id, name=name, field_type=type, required=required)


FLAT = Schema(field(1, "id", LongType(), True), field(2, "name", StringType()), field(3, "ts", TimestamptzType()),
              schema_id=0, identifier_field_ids=[1])
NESTED = Schema(
    field(20, "point", StructType(field(30, "x", DoubleType(), True), field(31, "inner", StructType(field(40, "deep", IntegerType()))))),
    field(10, "tags", ListType(element_id=50, element=StructType(field(51, "k", StringType())), element_required=False)),
    field(11, "scores", MapType(key_id=60, key_type=StructType(field(70, "a", IntegerType())), value_id=61,
                                value_type=ListType(element_id=62, element=LongType(), element_required=True), value_required=False)),
    field(5, "id", UUIDType(), True), schema_id=3)


def spec(*fields):
    return PartitionSpec(*[PartitionField(source_id=s, field_id=1000 + i, transform=parse_transform(t), name=n)
                           for i, (s, t, n) in enumerate(fields)], spec_id=0)


def order(*fields, order_id=1):
    return SortOrder(*[SortField(source_id=s, transform=parse_transform(t), direction=d, null_order=n)
                       for s, t, d, n in fields], order_id=order_id if fields else 0)


ASC, DESC, FIRST, LAST = SortDirection.ASC, SortDirection.DESC, NullOrder.NULLS_FIRST, NullOrder.NULLS_LAST
TABLES = [
    (FLAT, spec(), order()),
    (FLAT, spec((3, "day", "ts_day"), (1, "bucket[16]", "id_bucket"), (2, "truncate[3]", "name_trunc"), (1, "identity", "id")),
     order((3, "hour", DESC, LAST), (1, "identity", ASC, FIRST))),
    (NESTED, spec((40, "bucket[4]", "deep"), (5, "identity", "id")), order((30, "identity", ASC, LAST))),
]


def new_table(schema, spec, order):
    return new_table_metadata(schema, spec, order, "file:///t", {"a": "b"}, UUID)


def snapshot(id, parent, sequence, ms, **more):
    return Snapshot(snapshot_id=id, parent_snapshot_id=parent, sequence_number=sequence, timestamp_ms=ms,
                    manifest_list=f"file:///t/metadata/snap-{id}.avro", summary=Summary(Operation.APPEND, **{"added-records": "1"}), schema_id=0)


def main_ref(id):
    return SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=id)


BASE = new_table(*TABLES[1])
NOW = BASE.last_updated_ms + 1000
S1, S2, S3 = 3051729675574597004, 3055729675574597004, 3059729675574597004
ONE = [AddSnapshotUpdate(snapshot=snapshot(S1, None, 1, NOW)), main_ref(S1)]
TWO = ONE + [AddSnapshotUpdate(snapshot=snapshot(S2, S1, 2, NOW + 10)), main_ref(S2)]
WIDER = Schema(*FLAT.fields, field(4, "more", StructType(field(5, "x", IntegerType()))), schema_id=1, identifier_field_ids=[1])
STATISTICS = StatisticsFile(snapshot_id=S1, statistics_path="s.puffin", file_size_in_bytes=9, file_footer_size_in_bytes=4,
                            blob_metadata=[BlobMetadata(type="apache-datasketches-theta-v1", snapshot_id=S1, sequence_number=1, fields=[1])])
PARTITIONS = PartitionStatisticsFile(snapshot_id=S1, statistics_path="p.parquet", file_size_in_bytes=9)
TWO_BASE = update_table_metadata(BASE, TWO)
ONE_BASE = update_table_metadata(BASE, ONE)

UPDATES = [
    ("first snapshot", BASE, ONE),
    ("next snapshot", ONE_BASE, [AddSnapshotUpdate(snapshot=snapshot(S2, S1, 2, NOW + 10)), main_ref(S2)]),
    ("branch and tag", TWO_BASE, [
        SetSnapshotRefUpdate(ref_name="audit", type="branch", snapshot_id=S1, min_snapshots_to_keep=2, max_snapshot_age_ms=5, max_ref_age_ms=6),
        SetSnapshotRefUpdate(ref_name="v1", type="tag", snapshot_id=S2, max_ref_age_ms=7)]),
    ("remove a snapshot", TWO_BASE, [
        SetSnapshotRefUpdate(ref_name="audit", type="branch", snapshot_id=S1), RemoveSnapshotsUpdate(snapshot_ids=[S1])]),
    ("remove main", TWO_BASE, [RemoveSnapshotRefUpdate(ref_name="main")]),
    ("schema", BASE, [AddSchemaUpdate(schema=WIDER), SetCurrentSchemaUpdate(schema_id=-1)]),
    ("spec", BASE, [AddPartitionSpecUpdate(spec=PartitionSpec(PartitionField(source_id=2, field_id=1004, transform=parse_transform("identity"), name="name"), spec_id=1)),
                    SetDefaultSpecUpdate(spec_id=-1)]),
    ("order", BASE, [AddSortOrderUpdate(sort_order=order((2, "identity", DESC, FIRST), order_id=2)), SetDefaultSortOrderUpdate(sort_order_id=-1)]),
    ("properties", BASE, [SetPropertiesUpdate(updates={"c": "d", "a": "e"}), RemovePropertiesUpdate(removals=["c"])]),
    ("location", BASE, [SetLocationUpdate(location="file:///u")]),
    ("upgrade", BASE, [UpgradeFormatVersionUpdate(format_version=2)]),
    ("uuid", BASE, [AssignUUIDUpdate(uuid=UUID)]),
    ("statistics", ONE_BASE, [SetStatisticsUpdate(statistics=STATISTICS), SetPartitionStatisticsUpdate(partition_statistics=PARTITIONS)]),
    ("no statistics", update_table_metadata(ONE_BASE, [SetStatisticsUpdate(statistics=STATISTICS), SetPartitionStatisticsUpdate(partition_statistics=PARTITIONS)]),
     [RemoveStatisticsUpdate(snapshot_id=S1), RemovePartitionStatisticsUpdate(snapshot_id=S1)]),
    ("old schemas and specs", update_table_metadata(BASE, [
        AddSchemaUpdate(schema=WIDER), SetCurrentSchemaUpdate(schema_id=-1),
        AddPartitionSpecUpdate(spec=PartitionSpec(spec_id=1)), SetDefaultSpecUpdate(spec_id=-1)]),
     [RemoveSchemasUpdate(schema_ids=[0]), RemovePartitionSpecsUpdate(spec_ids=[0])]),
]
REQUIREMENTS = [AssertCreate(), AssertTableUUID(uuid=UUID), AssertRefSnapshotId(ref="main", snapshot_id=S1), AssertRefSnapshotId(ref="b", snapshot_id=None),
                AssertLastAssignedFieldId(last_assigned_field_id=3), AssertCurrentSchemaId(current_schema_id=0),
                AssertLastAssignedPartitionId(last_assigned_partition_id=1003), AssertDefaultSpecId(default_spec_id=0),
                AssertDefaultSortOrderId(default_sort_order_id=1)]

print(json.dumps({
    "maker": f"pyiceberg {pyiceberg.__version__}",
    "tables": [{"schema": dump(s), "spec": dump(p), "order": dump(o), "metadata": dump(new_table(s, p, o))} for s, p, o in TABLES],
    "updates": [{"name": n, "base": dump(b), "updates": [dump(u) for u in us], "metadata": dump(update_table_metadata(b, tuple(us)))} for n, b, us in UPDATES],
    "requirements": [json.loads(r.model_dump_json(by_alias=True)) for r in REQUIREMENTS],
}, separators=(",", ":")))
