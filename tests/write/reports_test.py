"""What users of today's systems report of writing (tests/reports.json), from the program's command line to what PyIceberg and
pyarrow find in the table.

usage: reports_test.py      FRAZIL is the program
"""
import decimal
import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog
except ImportError as error:
    print(f"skipped: {error}; the Python oracles are not installed")
    sys.exit(77)

FRAZIL = os.environ["FRAZIL"]


class Reports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="frazil-reports-")
        self.addCleanup(self.folder.cleanup)
        self.home = os.path.realpath(self.folder.name)
        self.catalog = SqlCatalog("default", uri=f"sqlite:///{self.home}/lake.db", warehouse=f"file://{self.home}/lake")
        self.catalog.create_namespace("n")

    def frazil(self, *words, code=0):
        options = ["--uri", f"sqlite:///{self.home}/lake.db", "--warehouse", f"{self.home}/lake"]
        done = subprocess.run([FRAZIL, *words, *options], capture_output=True, text=True, timeout=300, cwd=self.home)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def load(self, name, table, *words, code=0):
        pq.write_table(table, f"{self.home}/rows.parquet")
        return self.frazil("load", name, "rows.parquet", *words, code=code)

    def files(self, name):
        return [task.file for task in self.catalog.load_table(name).scan().plan_files()]

    def rows(self, name):
        return self.catalog.load_table(name).scan().to_arrow()

    def test_m18_partition_paths_are_encoded_and_never_parsed(self):
        values = ["a/b c#?%=\u00e9", "..", "%2F", "+", "", "null", None, "\U0001f9ca", "x" * 100]
        self.load("n.t", pa.table({"p": values, "id": range(len(values))}), "--create", "--partition-by", "p")
        self.assertEqual(len(self.files("n.t")), len(values))
        for file in self.files("n.t"):
            self.assertEqual(os.path.getsize(file.file_path.removeprefix("file://")), file.file_size_in_bytes)
            value = "null" if file.partition[0] is None else file.partition[0]
            self.assertEqual(file.file_path.split("/data/")[1].split("/")[0], "p=" + urllib.parse.quote_plus(value, safe="*"))
        self.assertEqual(sorted(map(repr, self.rows("n.t")["p"].to_pylist())), sorted(map(repr, values)))
        found = self.frazil("scan", "n.t", "--where", "p = 'a/b c#?%=\u00e9'", "--select", "id", "--format", "csv")
        self.assertEqual(found, "id\n0\n")

    def test_m20_locations_are_stored_as_absolute_uris(self):
        expected = f"file://{self.home}/here"
        for i, location in enumerate(["./here", "here", f"{self.home}/here", f"file:{self.home}/here", f"file://localhost{self.home}/here",
                                      f"file://{self.home}/here/"]):
            self.frazil("create", f"n.t{i}", "--schema", "id long", "--location", location + ("" if location[-1] == "/" else f"/{i}"))
            self.assertEqual(self.catalog.load_table(f"n.t{i}").location(), expected + ("" if location[-1] == "/" else f"/{i}"))

    def test_m23_unsigned_integers_become_signed_ones_that_hold_them(self):
        table = pa.table({"a": pa.array([255], pa.uint8()), "b": pa.array([65535], pa.uint16()), "c": pa.array([3_000_000_000], pa.uint32())})
        self.load("n.t", table, "--create")
        self.assertEqual([str(f.field_type) for f in self.catalog.load_table("n.t").schema().fields], ["int", "int", "long"])
        self.assertEqual(self.rows("n.t").to_pylist(), table.to_pylist())
        schema = pq.ParquetFile(self.files("n.t")[0].file_path.removeprefix("file://")).schema
        self.assertNotIn("isSigned=false", str(schema))
        self.assertNotIn("UINT", str(schema))
        wide = pa.table({"d": pa.array([2**63], pa.uint64())})
        self.assertIn("'d'", self.load("n.u", wide, "--create", code=5))
        self.assertEqual(self.catalog.list_tables("n"), [("n", "t")])

    def test_m27_nested_nulls_and_any_partition_value(self):
        kind = pa.schema([("m", pa.map_(pa.string(), pa.list_(pa.string()))), ("b", pa.binary()), ("d", pa.decimal128(9, 2))])
        rows = [{"m": [("k", ["x", None]), ("l", None)], "b": b"\x00\xff/", "d": decimal.Decimal("-1.28")},
                {"m": [], "b": b"", "d": decimal.Decimal("14.20")}, {"m": None, "b": None, "d": None}]
        self.load("n.t", pa.Table.from_pylist(rows, kind), "--create", "--partition-by", "b, d, bucket(16, d)")
        self.assertEqual(len(self.files("n.t")), 3)
        self.assertCountEqual(self.rows("n.t").to_pylist(), rows)

    def test_r05_thousands_of_random_partitions_in_bounded_memory(self):
        count, partitions = 400_000, 5_000
        table = pa.table({"p": pa.array([i * 7919 % partitions for i in range(count)], pa.int32()),
                          **{f"c{c}": pa.array(range(c, count + c), pa.int64()) for c in range(8)}})
        pq.write_table(table, f"{self.home}/rows.parquet")
        # A small process in between: what a child's memory begins with is its parent's.
        program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        words = ["load", "n.t", f"{self.home}/rows.parquet", "--create", "--partition-by", "p", "--memory", "64MiB", "--threads", "2",
                 "--uri", f"sqlite:///{self.home}/lake.db", "--warehouse", f"{self.home}/lake"]
        done = subprocess.run([sys.executable, "-S", "-c", program, FRAZIL, *words], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = self.files("n.t")
        self.assertEqual(sum(file.record_count for file in files), count)
        self.assertEqual(len({file.partition[0] for file in files}), partitions)
        self.assertLessEqual(len(files), 2 * partitions)
        # The budget, and what a program takes besides; the table alone is 27 MB, its files at once more than 100.
        self.assertLess(int(done.stdout), 160 << 10)

    def test_s11_hundreds_of_partitions_take_no_minutes(self):
        count = 320 * 500
        self.load("n.t", pa.table({"p": [i % 320 for i in range(count)], "v": range(count)}), "--create", "--partition-by", "p")
        told = json.loads(self.frazil("load", "n.t", "rows.parquet", "--output", "json"))
        self.assertEqual((told["rows"], told["files"]), (count, 320))
        self.assertLess(told["seconds"], 20)

    def test_w20_columns_are_matched_by_name(self):
        self.frazil("create", "n.t", "--schema", "a int not null, b string, c string")
        self.load("n.t", pa.table({"c": ["c"], "a": pa.array([1], pa.int32()), "b": ["b"]}))
        self.load("n.t", pa.table({"b": ["b"], "a": pa.array([2], pa.int32())}))
        self.assertIn("'a' is missing", self.load("n.t", pa.table({"b": ["b"]}), code=2))
        self.assertIn("'z'", self.load("n.t", pa.table({"a": pa.array([3], pa.int32()), "z": ["z"]}), code=2))
        self.assertEqual(self.rows("n.t").sort_by("a").to_pylist(), [{"a": 1, "b": "b", "c": "c"}, {"a": 2, "b": "b", "c": None}])

    def test_w23_null_counts_below_null_structs(self):
        kind = pa.schema([("s", pa.struct([("d", pa.float64())]))])
        self.load("n.t", pa.Table.from_pylist([{"s": None}, {"s": None}, {"s": {"d": 1.0}}], kind), "--create")
        [file] = self.files("n.t")
        leaf = self.catalog.load_table("n.t").schema().find_field("s.d").field_id
        self.assertEqual((file.value_counts[leaf], file.null_value_counts[leaf], file.nan_value_counts[leaf]), (3, 2, 0))
        self.assertEqual(self.frazil("scan", "n.t", "--count", "--where", "s.d IS NULL"), "2\n")
        self.assertEqual(self.catalog.load_table("n.t").scan("s.d IS NULL").to_arrow().num_rows, 2)


if __name__ == "__main__":
    unittest.main()
