"""Each table property that says how to write is set, rows are loaded, and what was written is looked at: Parquet footers by
pyarrow, metadata and manifests by PyIceberg, paths by their form.

usage: properties.py      FRAZIL is the program

What a table must not have (other formats, encryption, values that mean nothing) is an error that leaves it as it was.
"""
import glob
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.conversions import from_bytes
except ImportError as error:
    print(f"skipped: {error}; the Python oracles are not installed")
    sys.exit(77)

FRAZIL = os.environ["FRAZIL"]
COLUMNS = "id bigint not null, text string, key string, number double, p struct<x int, name string>"
ID, TEXT, KEY, NUMBER, X, NAME = range(6)  # leaves
ROWS = 30_000


def rows():
    r = random.Random(6)
    return pa.table({
        "id": pa.array(range(ROWS), pa.int64()),
        "text": [f"a longer text, of which bounds are cut: {r.random()}" for _ in range(ROWS)],
        "key": [f"key {r.randrange(40)}" for _ in range(ROWS)],
        "number": [r.random() for _ in range(ROWS)],
        "p": [{"x": r.randrange(5), "name": f"name {r.randrange(5)}"} for _ in range(ROWS)],
    }, schema=pa.schema([pa.field("id", pa.int64(), False), ("text", pa.string()), ("key", pa.string()), ("number", pa.float64()),
                         ("p", pa.struct([("x", pa.int32()), ("name", pa.string())]))]))


class Written:
    """A table of a catalog with the rows in it."""

    def __init__(self, test, *properties, options=(), load_options=(), loads=1):
        self.test = test
        self.name = test.next_name()
        created = test.frazil("create", self.name, "--schema", COLUMNS, *options, *(word for p in properties for word in ("--property", p)))
        assert created.returncode == 0, created.stderr
        for _ in range(loads):
            self.loaded = test.frazil("load", self.name, f"{test.home}/rows.parquet", *load_options)
        if self.loaded.returncode == 0:
            self.table = test.catalog.load_table(self.name)
            test.assertEqual(sum(task.file.record_count for task in self.table.scan().plan_files()), loads * ROWS)

    def files(self):
        """The data files of the manifests."""
        return [task.file for task in self.table.scan().plan_files()]

    def paths(self):
        return [file.file_path.removeprefix("file://") for file in self.files()]

    def footers(self):
        return [pq.ParquetFile(path).metadata for path in self.paths()]

    def chunk(self, leaf):
        return self.footers()[0].row_group(0).column(leaf)

    def bytes(self):
        return sum(file.file_size_in_bytes for file in self.files())

    def pages(self, column):
        """pyarrow does not tell of pages."""
        done = self.test.frazil("parquet", "pages", *self.paths(), "--output", "json")
        return [page for page in json.loads(done.stdout) if page["column"] == column and page["type"].startswith("data")]

    def metadata_files(self, ending):
        folder = self.table.metadata_location.removeprefix("file://").rsplit("/", 1)[0]
        return sorted(name for name in os.listdir(folder) if name.endswith(ending))


class Properties(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="frazil-properties-")
        cls.home = os.path.realpath(cls.folder.name)
        cls.count = 0
        cls.catalog = SqlCatalog("default", uri=f"sqlite:///{cls.home}/lake.db", warehouse=f"file://{cls.home}/lake")
        cls.catalog.create_namespace("n")
        pq.write_table(rows(), f"{cls.home}/rows.parquet")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def frazil(cls, *words):
        options = ["--uri", f"sqlite:///{cls.home}/lake.db", "--warehouse", f"{cls.home}/lake"]
        return subprocess.run([FRAZIL, *words, *options], capture_output=True, text=True, timeout=120)

    @classmethod
    def next_name(cls):
        cls.count += 1
        return f"n.t{cls.count}"

    def write(self, *properties, **more):
        written = Written(self, *properties, **more)
        self.assertEqual(written.loaded.returncode, 0, written.loaded.stderr)
        return written

    def test_codecs(self):
        # What pyarrow calls LZ4 is LZ4_RAW, which is what current readers take.
        for word, name in [("zstd", "ZSTD"), ("snappy", "SNAPPY"), ("gzip", "GZIP"), ("lz4", "LZ4"), ("LZ4_RAW", "LZ4"),
                           ("brotli", "BROTLI"), ("uncompressed", "UNCOMPRESSED"), ("none", "UNCOMPRESSED")]:
            written = self.write(f"write.parquet.compression-codec={word}")
            self.assertEqual(written.chunk(TEXT).compression, name, word)
        self.assertEqual(self.write().chunk(TEXT).compression, "ZSTD")

    def test_levels(self):
        for codec, low, high in [("zstd", 1, 19), ("gzip", 1, 9), ("brotli", 0, 9)]:
            # Another level may make another encoding the smallest: one for all.
            chunks = [self.write(f"write.parquet.compression-codec={codec}", f"write.parquet.compression-level={level}",
                                 "write.parquet.dict-encoding-enabled.column.key=false").chunk(KEY) for level in (low, high)]
            if chunks[0].encodings == chunks[1].encodings:
                self.assertGreater(chunks[0].total_compressed_size, chunks[1].total_compressed_size, codec)
            self.assertNotEqual(chunks[0].total_compressed_size, chunks[1].total_compressed_size, codec)

    def test_row_groups(self):
        groups = [footer.row_group(i) for footer in self.write("write.parquet.row-group-limit=7000").footers()
                  for i in range(footer.num_row_groups)]
        self.assertEqual([group.num_rows for group in groups], [7000] * 4 + [2000])
        asked = 100_000
        [footer] = self.write(f"write.parquet.row-group-size-bytes={asked}").footers()
        sizes = [sum(footer.row_group(i).column(c).total_compressed_size for c in range(6)) for i in range(footer.num_row_groups)]
        self.assertGreater(len(sizes), 4)
        for size in sizes[:-1]:
            self.assertTrue(asked / 3 <= size <= asked * 2, sizes)
        [footer] = self.write().footers()
        self.assertEqual(footer.num_row_groups, 1)

    def test_pages(self):
        self.assertEqual({page["rows"] for page in self.write("write.parquet.page-row-limit=500").pages("text")}, {500})
        pages = self.write("write.parquet.page-size-bytes=20000", "write.parquet.dict-encoding-enabled.column.text=false").pages("text")
        self.assertGreater(len(pages), 20)
        for page in pages[:-1]:
            self.assertTrue(5_000 <= page["uncompressed_bytes"] <= 40_000, page)
        self.assertEqual({page["type"] for page in self.write("write.parquet.page-version=v2").pages("p.x")}, {"data_v2"})
        self.assertEqual({page["type"] for page in self.write().pages("p.x")}, {"data"})

    def test_dictionaries(self):
        self.assertIn("RLE_DICTIONARY", self.write().chunk(KEY).encodings)
        none = self.write("write.parquet.dict-encoding-enabled.column.key=false").chunk(KEY)
        self.assertFalse({"RLE_DICTIONARY", "PLAIN_DICTIONARY"} & set(none.encodings))
        # A dictionary ends where it would be larger; what follows does without.
        small = self.write("write.parquet.dict-size-bytes=10").pages("key")
        self.assertNotIn("DICTIONARY", small[-1]["encoding"])

    def test_statistics_of_columns(self):
        written = self.write("write.parquet.stats-enabled.column.p.name=false")
        self.assertFalse(written.chunk(NAME).is_stats_set and written.chunk(NAME).statistics.has_min_max)
        self.assertTrue(written.chunk(X).statistics.has_min_max)

    def test_bloom_filters(self):
        written = self.write("write.parquet.bloom-filter-enabled.column.key=true", "write.parquet.bloom-filter-enabled.column.p.name=true",
                             "write.parquet.bloom-filter-fpp.column.key=0.001", "write.parquet.bloom-filter-ndv.column.p.name=100000")
        has_filter = [written.chunk(leaf).bloom_filter_offset is not None for leaf in range(6)]
        self.assertEqual(has_filter, [False, False, True, False, False, True])
        # 40 values at one in a thousand take 1 or 2 blocks of 32 bytes each; room for 100,000 of them was asked for.
        self.assertLess(written.chunk(KEY).bloom_filter_length, 400)
        self.assertGreater(written.chunk(NAME).bloom_filter_length, 50_000)
        bounded = self.write("write.parquet.bloom-filter-enabled.column.text=true", "write.parquet.bloom-filter-max-bytes=1024")
        self.assertLess(bounded.chunk(TEXT).bloom_filter_length, 1100)

    def test_metrics(self):
        schema = self.catalog.load_table(self.write().name).schema()
        text, name = schema.find_field("text").field_id, schema.find_field("p.name").field_id

        def figures(*properties):
            [file] = self.write(*properties).files()
            return file

        plain = figures()
        self.assertEqual(from_bytes(schema.find_type("text"), plain.lower_bounds[text]), "a longer text, o")
        self.assertEqual(from_bytes(schema.find_type("text"), plain.upper_bounds[text]), "a longer text, p")
        for mode, counted, bound in [("none", False, None), ("counts", True, None), ("truncate(5)", True, "a lon"),
                                     ("full", True, min(rows()["text"].to_pylist()))]:
            file = figures("write.metadata.metrics.default=" + mode, "write.metadata.metrics.column.p.name=full")
            self.assertEqual(text in file.value_counts, counted, mode)
            found = file.lower_bounds.get(text)
            self.assertEqual(found and from_bytes(schema.find_type("text"), found), bound, mode)
            self.assertEqual(from_bytes(schema.find_type("p.name"), file.lower_bounds[name]), "name 0", mode)
        file = figures("write.metadata.metrics.max-inferred-column-defaults=2")
        self.assertEqual(sorted(file.value_counts), [schema.find_field(c).field_id for c in ("id", "text")])

    def test_sizes_of_files(self):
        written = self.write("write.target-file-size-bytes=200000", "write.parquet.row-group-size-bytes=50000")
        sizes = [file.file_size_in_bytes for file in written.files()]
        self.assertGreater(len(sizes), 2)
        for size in sorted(sizes)[1:]:
            self.assertTrue(100_000 <= size <= 300_000, sizes)
        self.assertEqual(len(self.write().files()), 1)

    def test_places(self):
        table = self.write(options=("--partition-by", "key"))
        self.assertRegex(table.paths()[0], rf"^{self.home}/lake/n/t\d+/data/key=key\+\d+/[^/]+\.parquet$")
        elsewhere = f"{self.home}/else where"
        self.assertRegex(self.write(f"write.data.path=file://{elsewhere}").paths()[0], rf"^{elsewhere}/[^/]+\.parquet$")
        hashed = r"[01]{4}/[01]{4}/[01]{4}/[01]{8}"
        on = "write.object-storage.enabled=true"
        self.assertRegex(self.write(on).paths()[0], rf"/n/t\d+/data/{hashed}/[^/]+\.parquet$")
        self.assertRegex(self.write(on, options=("--partition-by", "key")).paths()[0], rf"/data/{hashed}/key=key\+\d+/[^/]+\.parquet$")
        flat = self.write(on, "write.object-storage.partitioned-paths=false", options=("--partition-by", "key"))
        self.assertRegex(flat.paths()[0], rf"/data/{hashed}-[^/]+\.parquet$")
        self.assertRegex(self.write(on, f"write.data.path=file://{elsewhere}").paths()[0], rf"^{elsewhere}/{hashed}/n/t\d+/[^/]+\.parquet$")
        metadata = self.write(f"write.metadata.path=file://{self.home}/apart")
        self.assertTrue(metadata.table.metadata_location.startswith(f"file://{self.home}/apart/"))
        self.assertTrue(metadata.table.current_snapshot().manifest_list.startswith(f"file://{self.home}/apart/"))

    def test_metadata_files(self):
        self.assertEqual(len(self.write(loads=4).metadata_files(".metadata.json")), 5)
        cleared = self.write("write.metadata.previous-versions-max=2", "write.metadata.delete-after-commit.enabled=true", loads=6)
        self.assertEqual([name[:5] for name in cleared.metadata_files(".metadata.json")], ["00004", "00005", "00006"])
        self.assertEqual(len(cleared.table.metadata.metadata_log), 2)
        packed = self.write("write.metadata.compression-codec=gzip")
        self.assertTrue(packed.table.metadata_location.endswith(".gz.metadata.json"))
        with open(packed.table.metadata_location.removeprefix("file://"), "rb") as file:
            self.assertEqual(file.read(2), b"\x1f\x8b")

    def test_manifests(self):
        for property, codec in [(None, b"deflate"), ("gzip", b"deflate"), ("zstd", b"zstandard"),
                                ("uncompressed", b"null")]:
            written = self.write(*([f"write.manifest.compression-codec={property}"] if property else []))
            for path in [written.table.current_snapshot().manifest_list, *(m.manifest_path for m in self.manifests(written))]:
                head = pathlib.Path(path.removeprefix("file://")).read_bytes()
                self.assertIn(b"avro.codec" + bytes([2 * len(codec)]) + codec, head, property)
        self.assertEqual(len(self.manifests(self.write(loads=3))), 3)
        self.assertEqual(len(self.manifests(self.write("commit.manifest.min-count-to-merge=3", loads=3))), 1)
        apart = self.write("commit.manifest.min-count-to-merge=3", "commit.manifest-merge.enabled=false", loads=3)
        self.assertEqual(len(self.manifests(apart)), 3)
        small = self.write("commit.manifest.min-count-to-merge=2", "commit.manifest.target-size-bytes=1", loads=3)
        self.assertEqual(len(self.manifests(small)), 3)

    def manifests(self, written):
        return written.table.current_snapshot().manifests(written.table.io)

    def test_summaries(self):
        plain = self.write(options=("--partition-by", "bucket(3, key)")).table.current_snapshot().summary
        self.assertEqual(plain["changed-partition-count"], "3")
        self.assertEqual([key for key in plain.additional_properties if key.startswith("partitions.")], [])
        told = self.write("write.summary.partition-limit=3", options=("--partition-by", "bucket(3, key)")).table.current_snapshot().summary
        self.assertEqual(told["partition-summaries-included"], "true")
        parts = {key: value for key, value in told.additional_properties.items() if key.startswith("partitions.")}
        self.assertEqual(sorted(parts), [f"partitions.key_bucket={i}" for i in range(3)])
        self.assertEqual(sum(int(re.search(r"added-records=(\d+)", value)[1]) for value in parts.values()), ROWS)
        over = self.write("write.summary.partition-limit=2", options=("--partition-by", "bucket(3, key)")).table.current_snapshot().summary
        self.assertEqual([key for key in over.additional_properties if key.startswith("partitions.")], [])

    def test_orders(self):
        written = self.write(options=("--sort-by", "key desc, id"), load_options=("--sort",))
        [file] = written.files()
        self.assertEqual(file.sort_order_id, written.table.sort_order().order_id)
        found = pq.read_table(written.paths()[0])
        self.assertEqual(found["id"].to_pylist(), rows().sort_by([("key", "descending"), ("id", "ascending")])["id"].to_pylist())
        order = written.footers()[0].row_group(0).sorting_columns
        self.assertEqual([(c.column_index, c.descending, c.nulls_first) for c in order], [(KEY, True, False), (ID, False, True)])
        [file] = self.write(options=("--sort-by", "key desc, id")).files()
        self.assertEqual(file.sort_order_id, 0)

    def test_distribution_modes_change_nothing(self):
        for mode in "none", "hash", "range":
            files = self.write(f"write.distribution-mode={mode}", options=("--partition-by", "bucket(4, key)")).files()
            self.assertEqual(len(files), 4, mode)

    def test_what_is_refused(self):
        for property, code in [
                ("write.format.default=orc", 5), ("write.format.default=avro", 5), ("encryption.key-id=k", 5),
                ("write.parquet.compression-codec=lzo", 2), ("write.parquet.compression-level=99", 2),
                ("write.parquet.page-version=v3", 2), ("write.parquet.page-size-bytes=-1", 2),
                ("write.parquet.row-group-size-bytes=x", 2), ("write.target-file-size-bytes=0", 2),
                ("write.distribution-mode=some", 2), ("write.metadata.metrics.default=most", 2),
                ("write.metadata.previous-versions-max=x", 2), ("write.manifest.compression-codec=rar", 2),
                ("commit.retry.num-retries=x", 2), ("write.object-storage.enabled=perhaps", 2),
                ("write.parquet.bloom-filter-fpp.column.key=2", 2)]:
            with self.subTest(property):
                name = self.next_name()
                created = self.frazil("create", name, "--schema", COLUMNS, "--property", property)
                if created.returncode != 0:
                    self.assertEqual(created.returncode, code, created.stderr)
                    continue
                loaded = self.frazil("load", name, f"{self.home}/rows.parquet")
                self.assertEqual(loaded.returncode, code, loaded.stderr)
                key = property.split("=")[0]
                self.assertIn("compression level 99" if "99" in property else key, loaded.stderr)
                self.assertIsNone(self.catalog.load_table(name).current_snapshot())
                self.assertEqual(glob.glob(f"{self.home}/lake/{name.replace('.', '/')}/**/*.parquet", recursive=True), [])


if __name__ == "__main__":
    unittest.main()
