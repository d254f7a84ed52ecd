"""Are the peers those that peers.toml pins, is each missing one named with its reason, and do all deliver the same rows?

The last needs what `make bench` makes (the Python environments, the content hash's library; Go's and Rust's runners with
PEERS=all) and says what it skips without.
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PEERS = os.path.join(ROOT, "bench", "peers")
sys.path += [PEERS, os.path.join(PEERS, "python")]

import build  # noqa: E402
import engines  # noqa: E402
import writer  # noqa: E402

KNOWN = {"write": writer.ENGINES, "ipc": ("pyarrow_ipc",)}  # by jobs that have a script of their own
READ = os.path.join(PEERS, "python", "reader.py")
MAIN = os.path.join(build.CACHE, "environments", "main", "bin", "python")
LIBRARY = os.environ.get("FRAZIL_CONTENT_HASH") or os.path.join(ROOT, "build", "release", "bench", "content_hash", "libfrazil_content_hash.so")


def text_of(*path):
    with open(os.path.join(PEERS, *path)) as file:
        return file.read()


class Pins(unittest.TestCase):
    def setUp(self):
        self.pins = build.pins()

    def test_go_mod_repeats_the_pins(self):
        required = dict(re.findall(r"^\s+(\S+) (v\S+)$", text_of("go", "go.mod"), re.MULTILINE))
        for module, version in self.pins["programs"]["go"]["packages"].items():
            self.assertEqual(required.get(module), version, module)

    def test_cargo_toml_repeats_the_pins_and_its_lock_keeps_them(self):
        for folder in ("rust", "rust_ipc"):
            dependencies = tomllib.loads(text_of(folder, "Cargo.toml"))["dependencies"]
            locked = {package["name"]: package["version"] for package in tomllib.loads(text_of(folder, "Cargo.lock"))["package"]}
            for crate, version in self.pins["programs"][folder]["packages"].items():
                wanted = dependencies.get(crate)
                self.assertEqual(wanted["version"] if isinstance(wanted, dict) else wanted, version, crate)
                self.assertTrue(f"{locked[crate]}.".startswith(f"{version.removeprefix('=')}."), f"{crate} {locked[crate]}")

    def test_the_floor_is_built_on_the_pyarrow_that_is_installed(self):
        for program in ("cpp", "cpp_ipc"):
            self.assertEqual(self.pins["programs"][program]["packages"]["pyarrow"], self.pins["environments"]["main"]["pyarrow"])

    def test_every_engine_has_a_runner_with_its_packages(self):
        for name, engine in self.pins["engines"].items():
            with self.subTest(name):
                if engine["runner"] in self.pins["environments"]:
                    self.assertIn(name, KNOWN.get(engine.get("jobs", ["read"])[0], engines.ENGINES))
                    pinned = {build.package_name(package) for package in self.pins["environments"][engine["runner"]]}
                    self.assertLessEqual(set(engine["packages"]), pinned)
                else:
                    self.assertIn(engine["runner"], self.pins["programs"])
        self.assertLessEqual({*engines.ENGINES, *writer.ENGINES}, set(self.pins["engines"]))

    def test_every_version_is_exact(self):
        for name, packages in self.pins["environments"].items():
            for package, version in packages.items():
                self.assertRegex(version, r"^\d[\w.]*$", f"{name}: {package}")


class Absent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.cache = os.path.join(self.folder, "cache")
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def peers(self, which, path, environment=None):
        """build.peers() with this PATH and without a network: {engine: what is said of it}."""
        def none(name, packages, cache):
            raise build.Absent("pip install failed: no network")

        with mock.patch.dict(os.environ, {"PATH": path}), mock.patch.object(build, "environment", environment or none):
            found = build.peers(which, self.cache)
        self.assertEqual([engine["engine"] for engine in found["engines"]], list(build.pins()["engines"]), "all are listed")
        return {engine["engine"]: engine for engine in found["engines"]}

    def command(self, name, text):
        """A program of this name in a folder that can stand in PATH."""
        path = os.path.join(self.folder, "bin", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
        return os.path.dirname(path)

    def test_without_compilers_and_network_each_peer_has_its_reason(self):
        found = self.peers("all", self.folder)
        self.assertEqual(found["iceberg_go"], {"engine": "iceberg_go", "jobs": ["read", "parquet"], "absent": "go is not installed"})
        self.assertEqual(found["iceberg_rust"], {"engine": "iceberg_rust", "jobs": ["read", "parquet"], "absent": "cargo is not installed"})
        for name in ("pyarrow_128k", "duckdb_iceberg", "floor_arrow"):
            self.assertEqual(found[name]["absent"], "pip install failed: no network")

    def test_a_build_that_fails_is_absent_with_what_the_compiler_said(self):
        path = self.command("go", "echo 'read.go:7: undefined: scan' >&2; exit 1")
        self.assertEqual(self.peers("iceberg_go", path)["iceberg_go"]["absent"], "go build failed: read.go:7: undefined: scan")

    def test_a_package_that_cannot_be_had_takes_only_its_engines_along(self):
        found = self.peers("python", self.folder, lambda name, packages, cache: ("/venv/python", {"pyarrow": "26.0.1", "duckdb": "2.0.1", "pytz": "1"}))
        self.assertEqual(found["polars_batches"]["absent"], "polars could not be installed")
        self.assertEqual(found["pyarrow_16k"]["command"], ["/venv/python", READ])
        self.assertEqual(found["pyarrow_16k"]["versions"], {"pyarrow": "26.0.1"})
        self.assertEqual(found["iceberg_go"]["absent"], "not asked for")

    def test_what_pip_cannot_install_together_it_installs_one_by_one(self):
        calls = []

        def run(command, **options):
            calls.append(command[command.index("--disable-pip-version-check") + 1:])
            if "polars==2" in command:
                raise build.Absent("pip failed: no matching distribution")

        with mock.patch.object(build, "run", run):
            self.assertFalse(build.install("python", ["pyarrow==1", "polars==2", "duckdb==3"]))
        self.assertEqual(calls, [["pyarrow==1", "polars==2", "duckdb==3"], ["pyarrow==1"], ["polars==2"], ["duckdb==3"]])

    def test_a_program_is_built_once_for_the_same_sources(self):
        count = os.path.join(self.folder, "count")
        # the words are: build -trimpath -mod=readonly -o PROGRAM .
        path = self.command("go", f'echo x >> {count}; echo built > "$5"')
        source = os.path.join(self.folder, "go", "main.go")
        os.makedirs(os.path.dirname(source))
        with mock.patch.object(build, "HERE", self.folder):
            for text, builds in (("one", 1), ("one", 1), ("two", 2)):
                with open(source, "w") as file:
                    file.write(text)
                found = self.peers("iceberg_go", path)["iceberg_go"]
                self.assertEqual(found["command"], [os.path.join(self.cache, "bin", "iceberg-peer-go")])
                with open(count) as file:
                    self.assertEqual(len(file.readlines()), builds)

    def test_an_unknown_peer_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no such peer: sparc"):
            build.peers("pyarrow_16k,sparc", self.cache)


class Arguments(unittest.TestCase):
    def test_python_runner_refuses_what_makes_no_sense(self):
        good = ["read", "--engine", "pyarrow_16k", "--metadata", "m", "--threads", "1"]
        for words, message in [
            ([], "are required"), (["write", *good[1:]], "invalid choice: 'write'"), ([*good, "--engine", "presto"], "invalid choice: 'presto'"),
            ([*good, "--threads", "0"], "0 is not positive"), ([*good, "--batch-rows", "-1"], "-1 is not positive"),
            ([*good, "--count", "--hash"], "--count delivers no rows"), ([*good, "--corrupt", "value"], "--corrupt needs --hash"),
            ([*good, "--hash", "--corrupt", "much"], "invalid choice: 'much'"),
        ]:
            done = subprocess.run([sys.executable, READ, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(message, done.stderr)

    def test_compiled_runners_refuse_them_too(self):
        missing = []
        for runner, engine in (("cpp", "floor_arrow"), ("go", "iceberg_go"), ("rust", "iceberg_rust"), ("rust", "arrow_rs")):
            program = os.path.join(build.CACHE, "bin", build.pins()["programs"][runner]["output"])
            if not os.path.exists(program):
                missing.append(program)
                continue
            good = ["read", "--engine", engine, "--metadata", "m"]
            for words in ([], good, ["write", *good[1:], "--threads", "1"], [*good, "--threads", "0"], [*good, "--threads", "1", "--speed", "9"],
                          ["read", "--engine", "presto", "--metadata", "m", "--threads", "1"]):
                with self.subTest(f"{runner}: {' '.join(words)}"):
                    done = subprocess.run([program, *words], capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertNotEqual(done.stderr, "")
            done = subprocess.run([program, *good, "--threads", "1"], capture_output=True, text=True)  # a table that is not there
            self.assertEqual((done.returncode, done.stdout), (1, ""))
        if missing:
            self.skipTest(f"not built: {', '.join(missing)}")

    def test_filters(self):
        self.assertEqual(engines.filter_terms("id >= 10 and id<20 and label = 'a and' and value != -1.5e3"),
                         [("id", ">=", 10), ("id", "<", 20), ("label", "=", "a and"), ("value", "!=", -1500.0)])
        for text in ("", "id", "id ~ 3", "id = x", "id = 1 or id = 2"):
            with self.assertRaises(ValueError, msg=text):
                engines.filter_terms(text)


# Three files of every primitive type, with nulls, -0.0, NaN, empty and long strings; %r is the folder. Prints the metadata
# file, and for each list of columns the hash by the slow implementation in tests/content_hash.
MAKE_TABLE = """
import datetime as dt, decimal, json, sys
sys.path.insert(0, sys.argv[2])
import content_hash, pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
folder = sys.argv[1]
catalog = SqlCatalog("t", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}/w")
catalog.create_namespace("n")
D, T = decimal.Decimal, dt.datetime
moments = [T(1969, 12, 31, 23, 59, 59, 999999), None, T(2026, 1, 1), T(2000, 1, 1)]
batch = pa.table({
    "id": pa.array([0, 1, 2, 3], pa.int64()), "flag": pa.array([True, None, False, True]), "small": pa.array([1, -2, None, 2**31 - 1], pa.int32()),
    "single": pa.array([-0.0, 0.0, float("nan"), None], pa.float32()), "double": pa.array([-0.0, None, float("nan"), 1e300]),
    "label": pa.array(["", "hello \\u20ac", None, "x" * 300]), "blob": pa.array([b"", None, b"\\0\\xff", b"x" * 100], pa.binary()),
    "fixed": pa.array([b"abcd", None, b"\\0\\0\\0\\0", b"zzzz"], pa.binary(4)),
    "day": pa.array([dt.date(1969, 12, 31), None, dt.date(2026, 1, 1), dt.date(1, 1, 1)]),
    "local": pa.array(moments, pa.timestamp("us")), "moment": pa.array(moments, pa.timestamp("us", tz="UTC")),
    "price": pa.array([D("-1.23"), None, D("9999999.99"), D(0)], pa.decimal128(9, 2)),
    "big": pa.array([D("-1.23"), None, D("1234567890123456789012345678.9"), D(0)], pa.decimal128(38, 10)),
    "clock": pa.array([dt.time(0), None, dt.time(23, 59, 59, 999999), dt.time(1)], pa.time64("us")),
})
table = catalog.create_table("n.t", schema=batch.schema)
parts = [batch.set_column(0, "id", pa.array(range(4 * k, 4 * k + 4), pa.int64())) for k in range(3)]
for part in parts:
    table.append(part)
whole = pa.concat_tables(parts).combine_chunks()
def hashed(table):
    return content_hash.content_hash(table.to_batches())
print(json.dumps({"metadata": table.metadata_location, "all": hashed(whole), "without_clock": hashed(whole.drop(["clock"])),
                  "part": hashed(whole.slice(3, 5).select(["label", "id"])), "columns": whole.schema.names}))
"""


# Of the engines that are one library's: the same code answers for the others.
ONE_EACH = ("pyiceberg_reader", "pyarrow_16k", "duckdb_unordered", "duckdb_iceberg", "polars_batches", "polars_iceberg", "iceberg_go", "iceberg_rust")


@unittest.skipUnless(os.path.exists(MAIN) and os.path.exists(LIBRARY), f"needs {MAIN} and {LIBRARY}: make bench")
class Deliveries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.made = json.loads(subprocess.run([MAIN, "-c", MAKE_TABLE, folder.name, os.path.join(ROOT, "tests", "content_hash")], check=True, stdout=subprocess.PIPE).stdout)
        pinned = build.pins()
        cls.commands, missing = {}, []
        for name, engine in pinned["engines"].items():
            if "jobs" in engine:
                continue  # writers: write_job_test.py; readers of files: Files
            if engine["runner"] in pinned["programs"]:
                command = [os.path.join(build.CACHE, "bin", pinned["programs"][engine["runner"]]["output"])]
            else:
                command = [os.path.join(build.CACHE, "environments", engine["runner"], "bin", "python"), READ]
            if os.path.exists(command[0]):
                cls.commands[name] = command
            else:
                missing.append(name)
        if missing:
            print(f"peers_test: without {', '.join(missing)}, which were not built (make bench PEERS=all)", file=sys.stderr)

    def run_engine(self, name, *words):
        command = [*self.commands[name], "read", "--engine", name, "--metadata", self.made["metadata"], "--threads", "2", *words]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "FRAZIL_CONTENT_HASH": LIBRARY})
        self.assertEqual(done.returncode, 0, f"{name} {words}: {done.stderr}")
        self.assertEqual(len(done.stdout.strip().splitlines()), 1, done.stdout)
        return json.loads(done.stdout)

    def each(self, *names):
        """Those of these engines that are there; without names all that decode."""
        return [name for name in names or self.commands if name in self.commands and name != "floor_arrow"]

    def test_every_engine_hashes_every_type_as_the_definition_says(self):
        for name in self.each():
            with self.subTest(name):
                words, expected = ["--hash"], self.made["all"]
                if name.startswith("polars"):  # knows times in nanoseconds only: other values
                    words += ["--columns", ",".join(column for column in self.made["columns"] if column != "clock")]
                    expected = self.made["without_clock"]
                result = self.run_engine(name, *words)
                self.assertEqual([result["content_hash"], result["rows"]], expected)

    def test_filters_keep_the_same_rows_and_columns_are_hashed_in_the_order_asked_for(self):
        for name in self.each(*ONE_EACH):
            with self.subTest(name):
                result = self.run_engine(name, "--hash", "--columns", "label,id", "--filter", "id >= 3 and id < 8")
                self.assertEqual([result["content_hash"], result["rows"]], self.made["part"])

    def test_counts(self):
        for name in self.each(*ONE_EACH):
            with self.subTest(name):
                result = self.run_engine(name, "--count")
                if name in ("iceberg_go", "iceberg_rust"):
                    self.assertEqual(list(result), ["not_offered"])
                else:
                    self.assertEqual((result["rows"], result["batches"], result["seconds_to_first_batch"]), (12, 0, None))

    def test_a_measurement_has_all_figures(self):
        fields = {"engine", "threads", "rows", "batches", "files", "seconds", "seconds_to_first_batch", "bytes_read", "bytes_written",
                  "pool_peak_bytes", "rss_peak_bytes", "allocations", "order"}
        for name in self.commands:
            with self.subTest(name):
                result = self.run_engine(name)
                self.assertEqual(set(result), fields)
                self.assertEqual((result["engine"], result["rows"], result["threads"]), (name, 12, 2))
                self.assertGreater(result["seconds"], 0)
                self.assertGreater(result["bytes_read"], 1000)
                self.assertGreater(result["rss_peak_bytes"], 1 << 20)

    def test_knobs_are_used_or_said_not_to_be_offered(self):
        for name, knob, offered in [("pyiceberg_reader", "--concurrency", True), ("pyiceberg_reader", "--batch-rows", False),
                                    ("pyarrow_128k", "--concurrency", True), ("pyarrow_128k", "--batch-rows", True),
                                    ("duckdb_unordered", "--concurrency", False), ("polars_batches", "--concurrency", False),
                                    ("polars_batches", "--batch-rows", True), ("floor_arrow", "--concurrency", False),
                                    ("iceberg_go", "--concurrency", True), ("iceberg_go", "--batch-rows", True),
                                    ("iceberg_rust", "--concurrency", True), ("iceberg_rust", "--batch-rows", True)]:
            if name not in self.commands:
                continue
            with self.subTest(f"{name} {knob}"):
                result = self.run_engine(name, knob, "1")
                self.assertEqual(result.get("rows"), 12 if offered else None)
                self.assertEqual("not_offered" in result, not offered)
                if offered and knob == "--batch-rows":
                    self.assertEqual(result["batches"], 12)

    def test_every_damage_changes_the_hash(self):
        hashes = {self.run_engine("pyarrow_16k", "--hash", *words)["content_hash"]
                  for words in ([], ["--corrupt", "value"], ["--corrupt", "swap"], ["--corrupt", "duplicate"])}
        self.assertEqual(len(hashes), 4)


# One file of the nested types of job parquet; prints its path and its hash and rows by the slow implementation.
MAKE_FILE = """
import json, sys
sys.path.insert(0, sys.argv[2])
import content_hash, pyarrow as pa, pyarrow.parquet as pq
both = pa.struct({"a": pa.int64(), "b": pa.string()})
table = pa.table({
    "id": pa.array([0, 1, 2, 3], pa.int64()), "fixed": pa.array([b"ab", None, b"\\0\\0", b"zz"], pa.binary(2)),
    "list": pa.array([[1, None], None, [], [2**40]], pa.list_(pa.int64())),
    "structs": pa.array([[{"a": 1, "b": None}, None], [], None, [{"a": None, "b": "x" * 20}]], pa.list_(both)),
    "struct": pa.array([{"a": 1, "b": "b"}, None, {"a": None, "b": ""}, {"a": 4, "b": None}], both),
    "map": pa.array([[("a", 1), ("b", None)], None, [], [("", 2)]], pa.map_(pa.string(), pa.int64())),
})
path = f"{sys.argv[1]}/nested.parquet"
pq.write_table(table, path)
print(json.dumps({"path": path, "all": content_hash.content_hash(table.to_batches())}))
"""
RUST = os.path.join(build.CACHE, "bin", "iceberg-peer-rust")


@unittest.skipUnless(os.path.exists(MAIN) and os.path.exists(RUST), f"needs {MAIN} and {RUST}: make bench PEERS=all")
class Files(unittest.TestCase):
    def run_engine(self, path, *words):
        command = [RUST, "read", "--engine", "arrow_rs", "--metadata", path, "--threads", "1", *words]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def test_arrow_rs_hashes_nested_types_as_the_definition_says(self):
        with tempfile.TemporaryDirectory() as folder:
            hashes = os.path.join(ROOT, "tests", "content_hash")
            made = json.loads(subprocess.run([MAIN, "-c", MAKE_FILE, folder, hashes], check=True, stdout=subprocess.PIPE).stdout)
            result = self.run_engine(made["path"], "--hash")
            self.assertEqual([result["content_hash"], result["rows"]], made["all"])
            result = self.run_engine(made["path"], "--columns", "list,id", "--batch-rows", "1")
            self.assertEqual((result["rows"], result["batches"], result["files"]), (4, 4, 1))
            for words in (["--filter", "id >= 3"], ["--count"], ["--concurrency", "2"]):
                self.assertEqual(list(self.run_engine(made["path"], *words)), ["not_offered"])


if __name__ == "__main__":
    unittest.main()
