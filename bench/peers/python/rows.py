"""The rows of job W, as a pyarrow table of one chunk: those of iceberg-go's BenchmarkPartitionedWriteThroughput."""

import numpy as np
import pyarrow as pa

HOSTS = ["example.com", "foo.test.org", "demo.net"]
AGENTS = ["Mozilla/5.0", "curl/7.68.0", "python-requests/2.25.1"]
FIRST_OF_2024 = 1_704_067_200_000_000  # microseconds
DAY = 86_400_000_000


def schema(partitions=None, nested=False):
    """`partitions`: of a column "part"; without it rows fall into 10 days by 3 hosts."""
    fields = [
        pa.field("id", pa.int64(), False),
        pa.field("ts", pa.timestamp("us", tz="UTC"), False),
        pa.field("host", pa.string(), False),
        pa.field("status_code", pa.int32(), False),
        pa.field("bytes_sent", pa.int64(), False),
        pa.field("user_agent", pa.string(), False),
    ]
    if partitions:
        fields.append(pa.field("part", pa.int32(), False))
    if nested:
        fields += [
            pa.field("tags", pa.list_(pa.string())),
            pa.field("point", pa.struct({"x": pa.float64(), "y": pa.float64()})),
            pa.field("counts", pa.map_(pa.string(), pa.int64())),
        ]
    return pa.schema(fields)


def lists(i, counts, values):
    """Row r of the result holds the first counts[r] of `values`, a function of the row and the place in its list."""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    row = np.repeat(np.arange(len(i)), counts)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    return pa.array(offsets), values(row, place)


def table(count, partitions=None, order="round-robin", nested=False):
    i = np.arange(count)
    if order == "random":
        np.random.default_rng(1).shuffle(i)
    elif order == "clustered":
        i = np.argsort(i % (partitions or 30), kind="stable")
    columns = [
        pa.array(i),
        pa.array(FIRST_OF_2024 + (i % 10) * DAY, pa.timestamp("us", tz="UTC")),
        pa.array(HOSTS).take(pa.array(i % 3)),
        pa.array((200 + i % 5).astype(np.int32)),
        pa.array(1000 + i % 5000),
        pa.array(AGENTS).take(pa.array(i % 3)),
    ]
    if partitions:
        columns.append(pa.array((i % partitions).astype(np.int32)))
    if nested:
        offsets, values = lists(i, i % 4, lambda row, place: pa.array(AGENTS).take(pa.array(place)))
        columns.append(pa.ListArray.from_arrays(offsets, values))
        columns.append(pa.StructArray.from_arrays([pa.array(i * 0.1), pa.array(i * 0.2)], ["x", "y"]))
        keys = lists(i, i % 3, lambda row, place: pa.array(HOSTS).take(pa.array(place)))
        items = lists(i, i % 3, lambda row, place: pa.array(i[row] + place))
        columns.append(pa.MapArray.from_arrays(keys[0], keys[1], items[1]))
    return pa.table(columns, schema=schema(partitions, nested)).combine_chunks()
