"""Has job ipc the shapes and inputs it promises, do all engines get the same work, deliver the same rows and look at the same
bytes?

The engines need what `make bench` makes (the Python environments, the C and C++ peers, the content hash's library, frazil)
and say what they skip without.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(BENCH)
sys.path += [BENCH, os.path.join(BENCH, "peers")]

import build  # noqa: E402
import workload  # noqa: E402
from ipc import job  # noqa: E402

with open(os.path.join(BENCH, "peers.toml"), "rb") as file:
    ALL = tomllib.load(file)["engines"]
NAMES = [name for name, engine in ALL.items() if "ipc" in engine.get("jobs", [])]
ENGINES = [{"engine": name, "command": ["python", "runner.py"]} for name in NAMES]
MAIN = os.path.join(build.CACHE, "environments", "main", "bin", "python")
LIBRARY = os.environ.get("FRAZIL_CONTENT_HASH") or os.path.join(
    ROOT, "build", "release", "bench", "content_hash", "libfrazil_content_hash.so"
)
FRAZIL = os.environ.get("FRAZIL") or os.path.join(ROOT, "build", "release", "frazil")


def blocks(size, threads=1, engines=ENGINES):
    return [
        workload.Block(data, case, threads, job.contenders(data, case, threads, size, "/d/x.arrow", engines, ["frazil"]))
        for data, cases in job.data_sets(size).items()
        for case in cases
    ]


def value_of(command, option):
    return command[command.index(option) + 1]


class IpcJob(unittest.TestCase):
    def test_the_first_set_is_that_of_the_published_benchmark(self):
        data = next(iter(job.data_sets("full")))
        self.assertEqual((data.set, data.rows, data.columns, data.codec), ("columns_100", 10_000, 100, "none"))

    def test_every_shape_input_and_check_is_there(self):
        full = job.data_sets("full")
        self.assertEqual(len({d.name for d in full}), len(full), "rows are told apart by the names of sets")
        self.assertLessEqual({1, 100, 1_000, 4_096}, {d.columns for d in full if d.set.startswith("columns_")})
        self.assertLessEqual({"batches_100", "nulls", "dictionary", "views", "small_files", "first_of_many"}, {d.set for d in full})
        self.assertEqual({d.codec for d in full}, {"none", "lz4", "zstd"})
        self.assertEqual({d.files for d in full if d.set == "small_files"}, {10_000})
        cases = next(iter(full.values()))
        self.assertEqual({case.split("_")[2] for case in cases if "_from_" in case}, {"memory", "mmap", "pipe", "file"})
        self.assertEqual({case.split("_")[0] for case in cases}, {"file", "stream"})
        self.assertEqual({word for case in cases for word in case.split("_")[3:]}, {"touched", "checked"})
        self.assertIn("file_to_memory", cases)

    def test_every_engine_does_the_same_work(self):
        for block in blocks("full"):
            running = [c for c in block.contenders if c.status == "ok"]
            self.assertIn("frazil", {c.engine for c in running})
            self.assertEqual({c.engine for c in block.contenders}, {*NAMES, "frazil"})
            self.assertEqual({"--touch" in c.command for c in running}, {block.case.endswith("touched")})
            self.assertEqual({"--first-batch" in c.command for c in running}, {block.case.endswith("first")})
            self.assertEqual({"full" in c.command for c in running}, {block.case.endswith("checked")})
            self.assertEqual(len({value_of(c.command, "--operations") for c in running}), 1)
            for c in running:
                self.assertTrue(c.hash_command, "all that is timed is hashed")

    def test_one_column_is_the_same_for_all(self):
        block = next(b for b in blocks("full") if b.case == "file_from_mmap_column")
        for c in block.contenders:
            if c.status == "ok":
                chosen = value_of(c.command, "--select" if c.engine == "frazil" else "--column")
                self.assertEqual(int(chosen.removeprefix("c")), 500)

    def test_threads_matter_for_compressed_bodies_alone(self):
        self.assertEqual({b.data.codec for b in blocks("full", threads=2) if b.contenders}, {"lz4", "zstd"})

    def test_a_debug_build_is_named_when_it_is_not_there(self):
        for c in blocks("quick")[0].contenders:
            if c.configuration == "debug build":
                self.assertIn("debug", c.reason)

    def test_a_quick_run_is_at_most_ten_minutes(self):
        self.assertLess(workload.estimate_seconds(blocks("quick"), 3), 600)


class Engines(unittest.TestCase):
    """Small data, all engines that are there."""

    @classmethod
    def setUpClass(cls):
        missing = [path for path in (MAIN, LIBRARY, FRAZIL) if not os.path.exists(path)]
        if missing:
            raise unittest.SkipTest(f"{', '.join(missing)} is missing (make bench makes it)")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.environment = {**os.environ, "FRAZIL_CONTENT_HASH": LIBRARY}
        cls.engines = []
        for name in NAMES:
            runner = ALL[name]["runner"]
            program = os.path.join(build.CACHE, "bin", build.pins()["programs"].get(runner, {}).get("output", "-"))
            if runner == "main":
                cls.engines.append({"engine": name, "command": [MAIN, os.path.join(BENCH, "peers", "python", "ipc_runner.py")]})
            elif os.path.exists(program):
                cls.engines.append({"engine": name, "command": [program]})
            else:
                print(f"{name} is not built (make bench PEERS=all): left out", file=sys.stderr)

    def made(self, set_name, codec="none", rows=1_000, columns=6, files=1):
        data = workload.DataSet(set_name, codec, rows, columns, files, 1)
        recipe = json.dumps({"set": set_name, "codec": codec, "rows": rows, "columns": columns, "files": files})
        folder = os.path.join(self.folder.name, f"{set_name}_{codec}_{rows}")
        done = subprocess.run([MAIN, os.path.join(BENCH, "ipc", "make_data.py"), recipe, folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return data, done.stdout.strip()

    def run_all(self, data, path, case, hashed):
        """{engine: what it printed}"""
        printed = {}
        for c in job.contenders(data, case, 1, "quick", path, self.engines, [FRAZIL]):
            if c.status != "ok" or c.configuration != "default":
                continue
            command = [re.sub("^300$", "3", word) for word in (c.hash_command if hashed else c.command)]
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=120)
            self.assertEqual(done.returncode, 0, f"{c.engine} {case}: {done.stderr}")
            answer = json.loads(done.stdout.strip().splitlines()[-1])
            if "not_offered" not in answer:
                printed[c.engine] = answer
        return printed

    def test_all_deliver_the_same_rows(self):
        shapes = [("columns_6", "none"), ("nulls", "none"), ("dictionary", "none"), ("views", "none"), ("batches_100", "none")]
        shapes += [("few_values", "lz4"), ("few_values", "zstd")]
        for set_name, codec in shapes:
            data, path = self.made(set_name, codec)
            cases = (*job.INPUTS, *job.WRITTEN) if set_name == "columns_6" else (*job.PUBLISHED, "stream_to_memory")
            for case in cases:
                found = self.run_all(data, path, case, hashed=True)
                self.assertIn("frazil", found)
                self.assertGreater(len(found), 1)
                hashes = {(answer["content_hash"], answer["rows"]) for answer in found.values()}
                self.assertEqual(len(hashes), 1, f"{set_name} {codec} {case}: {found}")

    def test_who_touches_looks_at_the_same_bytes(self):
        data, path = self.made("columns_6")
        found = self.run_all(data, path, "file_from_memory_touched", hashed=False)
        sums = {answer["byte_sum"] for name, answer in found.items() if "byte_sum" in answer}
        self.assertEqual(len(sums), 1, found)
        self.assertNotEqual(sums, {"0" * 16})

    def test_a_pipe_and_a_file_are_read_and_of_a_mapping_at_most_the_metadata(self):
        data, path = self.made("columns_6", rows=20_000)
        size = os.path.getsize(path)
        for case, least, most in (("stream_from_pipe", 0.9, 1.1), ("file_from_file", 0.9, 1.2), ("file_from_mmap", 0, 0.1)):
            for name, answer in self.run_all(data, path, case, hashed=False).items():
                self.assertGreaterEqual(answer["bytes_read"], least * size, f"{name} {case}")
                self.assertLessEqual(answer["bytes_read"], most * size, f"{name} {case}")

    def test_small_files_are_all_opened(self):
        data, path = self.made("small_files", rows=160, columns=3, files=10)
        for name, answer in self.run_all(data, path, "file_from_file", hashed=False).items():
            self.assertEqual((answer["files"], answer["rows"]), (10, 160), name)

    def test_a_changed_row_shows(self):
        data, path = self.made("columns_6")
        fewer, other = self.made("columns_6", rows=999)
        one = self.run_all(data, path, "file_from_memory", hashed=True)["frazil"]
        two = self.run_all(fewer, other, "file_from_memory", hashed=True)["frazil"]
        self.assertNotEqual((one["content_hash"], one["rows"]), (two["content_hash"], two["rows"]))


if __name__ == "__main__":
    unittest.main()
