"""Has job W the partitions and orders it promises, do all writers deliver the same rows, and does a lost row show?

The writers need what `make bench` makes (the Python environments, the content hash's library, frazil) and say what they
skip without.
"""

import json
import os
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
from write import job  # noqa: E402

with open(os.path.join(BENCH, "peers.toml"), "rb") as file:
    PINS = tomllib.load(file)
ALL, PROGRAMS = PINS["engines"], PINS["programs"]
WRITERS = [name for name, engine in ALL.items() if "write" in engine.get("jobs", [])]
ENGINES = [{"engine": name, "command": ["python", "writer.py"]} for name in WRITERS]
MAIN = os.path.join(build.CACHE, "environments", "main", "bin", "python")
LIBRARY = os.environ.get("FRAZIL_CONTENT_HASH") or os.path.join(
    ROOT, "build", "release", "bench", "content_hash", "libfrazil_content_hash.so"
)
FRAZIL = os.environ.get("FRAZIL") or os.path.join(ROOT, "build", "release", "frazil")


def blocks(size, threads=2):
    return [
        workload.Block(data, case, threads, job.contenders(data, case, threads, size, "/f/x", ENGINES, ["frazil"]))
        for data, cases in job.data_sets(size).items()
        for case in cases
    ]


class WriteJob(unittest.TestCase):
    def test_rows_and_partitions_are_those_of_the_published_benchmark(self):
        full = job.data_sets("full")
        self.assertEqual({d.rows for d in full if d.set.startswith("days_hosts")}, {100_000, 500_000, 2_500_000})
        self.assertEqual({d.files for d in full if d.set.startswith("ints_")}, {1, 25, 100, 250, 1_000, 5_000})
        self.assertIn("nested", {d.set for d in full})
        self.assertEqual(len({d.name for d in full}), len(full), "rows are told apart by the names of sets")

    def test_every_writer_gets_the_same_words(self):
        for block in blocks("full"):
            words = {c.command[c.command.index("--rows") :][:8] for c in block.contenders}
            self.assertEqual(len(words), 1, block.names)
            self.assertEqual({c.engine for c in block.contenders}, {*WRITERS, "frazil"})
            for c in block.contenders:
                self.assertIn("deliver.py", c.hash_command[1])
                self.assertEqual("--partitions" in c.command, block.data.set.startswith("ints_"))
                self.assertEqual("--nested" in c.command, block.data.set == "nested")

    def test_a_quick_run_is_short(self):
        self.assertLess(workload.estimate_seconds(blocks("quick"), 3), 90)


class Writers(unittest.TestCase):
    def setUp(self):
        missing = [path for path in (MAIN, LIBRARY, FRAZIL) if not os.path.exists(path)]
        if missing:
            self.skipTest(f"{', '.join(missing)} is missing (make bench makes it)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def deliver(self, *command):
        done = subprocess.run(
            [MAIN, os.path.join(BENCH, "write", "deliver.py"), *command],
            capture_output=True,
            text=True,
            env={**os.environ, "FRAZIL_CONTENT_HASH": LIBRARY},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def writers(self, *words):
        words = ["--rows", "5000", "--threads", "2", "--folder", self.folder, *words]
        yield "frazil", (FRAZIL, "bench", "write", *words, "--rounds", "1", "--output", "json")
        script = os.path.join(BENCH, "peers", "python", "writer.py")
        for name in WRITERS:
            runner = ALL[name]["runner"]
            program = (MAIN, script) if runner == "main" else (os.path.join(build.CACHE, "bin", PROGRAMS[runner]["output"]),)
            if os.path.exists(program[0]):  # Go's and Rust's with PEERS=all only
                yield name, (*program, "write", "--engine", name, *words)

    def test_all_deliver_the_same_rows(self):
        for words in [], ["--partitions", "7", "--order", "random"], ["--nested", "--order", "clustered"]:
            delivered = {name: self.deliver(*command) for name, command in self.writers(*words)}
            self.assertEqual(len({json.dumps(d) for d in delivered.values()}), 1, delivered)
            self.assertEqual(os.listdir(self.folder), [], "something was left")

    def test_the_order_of_rows_does_not_matter_and_a_changed_row_does(self):
        [(_, command)] = [w for w in self.writers() if w[0] == "frazil"]
        right = self.deliver(*command)
        self.assertEqual(self.deliver(*command, "--order", "random"), right)
        self.assertNotEqual(self.deliver(*(word.replace("5000", "4999") for word in command)), right)


if __name__ == "__main__":
    unittest.main()
