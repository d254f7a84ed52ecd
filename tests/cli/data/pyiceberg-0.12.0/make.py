"""Makes lake.db and lake/ beside this file with PyIceberg 0.12.0. PyIceberg records absolute locations: the table is
written to /frazil-fixture (a folder that must not exist, and that root alone can make) and moved here."""
import datetime
import pathlib
import shutil

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.types import DateType, IntegerType, NestedField, StringType

HERE = pathlib.Path(__file__).parent
MADE = pathlib.Path('/frazil-fixture')
MADE.mkdir()
catalog = SqlCatalog('lake', uri=f'sqlite:///{MADE}/lake.db', warehouse=f'file://{MADE}/lake')
catalog.create_namespace('web', {'owner': 'frazil'})
catalog.create_namespace(('web', 'eu'))
catalog.create_namespace('empty')
catalog.create_namespace('a_b')
schema = Schema(NestedField(1, 'id', IntegerType(), required=True), NestedField(2, 'host', StringType()),
                NestedField(3, 'day', DateType()))
table = catalog.create_table('web.hits', schema,
                             partition_spec=PartitionSpec(PartitionField(3, 1000, DayTransform(), 'day_part')))
arrow = pa.schema([pa.field('id', pa.int32(), nullable=False), ('host', pa.string()), ('day', pa.date32())])
table.append(pa.table({'id': [2, 3], 'host': [None, ''], 'day': [datetime.date(2026, 11, 2)] * 2}, schema=arrow))
table.append(pa.table({'id': [1], 'host': ['a'], 'day': [datetime.date(2026, 11, 1)]}, schema=arrow))
for name in ('lake', 'lake.db'):
    shutil.move(MADE / name, HERE / name)
MADE.rmdir()
