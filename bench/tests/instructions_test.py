"""Are counts of instructions compared as bench/instructions/count.py promises? Runs it with a valgrind of our own."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "instructions"))

import count

# Counts 1,000 for the program, and 100 more for each round.
VALGRIND = """#!/bin/sh
if [ "$1" = --version ]; then echo valgrind-9.9; exit 0; fi
rounds=0
while [ $# -gt 0 ]; do if [ "$1" = --rounds ]; then rounds=$2; fi; shift; done
if [ $rounds -gt 100 ]; then echo "no such file" >&2; exit 3; fi
echo "==1== Collected : $((1000 + rounds * PER_ROUND))" >&2
"""


class Compare(unittest.TestCase):
    def test_only_more_than_the_limit_is_told(self):
        before = {"same": 1000, "little": 1000, "slow": 1000, "fast": 1000, "gone": 5}
        now = {"same": 1000, "little": 1020, "slow": 1021, "fast": 979, "new": 7}
        verdicts = {name: verdict for name, _, _, _, verdict in count.compare(before, now)}
        self.assertEqual(verdicts, {"same": "", "little": "", "slow": "slower", "fast": "faster", "new": ""})
        text = count.table_text(count.compare(before, now))
        self.assertIn("1,021   +2.10 % slower", text)
        self.assertIn("new", text.splitlines()[-1])


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for patch in (mock.patch.object(count, "COUNTS", self.folder / "counts.json"),
                      mock.patch.object(count, "SCANS", (count.read("one", "x"), count.read("two", "y"))),
                      mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"})):
            patch.start()
            self.addCleanup(patch.stop)
        self.per_round(100)

    def per_round(self, instructions):
        script = self.folder / "valgrind"
        script.write_text(VALGRIND.replace("PER_ROUND", str(instructions)))
        script.chmod(0o755)

    def run_count(self, *arguments):
        """Exit status and text."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = count.main(["--binary", sys.executable, *arguments])
        return status, text.getvalue()

    def test_a_slower_binary_fails_and_others_are_printed(self):
        self.assertEqual(self.run_count("--update")[0], 0)
        stored = json.loads(count.COUNTS.read_text())
        self.assertEqual(stored["instructions"], {"one": 100, "two": 100})
        self.assertEqual(stored["made_by"]["valgrind"], "valgrind-9.9")
        self.assertEqual(self.run_count()[0], 0)
        self.per_round(103)
        status, text = self.run_count("two")
        self.assertEqual(status, 1)
        self.assertIn("+3.00 % slower", text)
        self.assertNotIn("one", text)
        self.per_round(90)
        self.assertEqual(self.run_count()[0], 0)

    def test_counts_by_other_versions_are_not_judged(self):
        self.run_count("--update")
        stored = json.loads(count.COUNTS.read_text())
        stored["made_by"]["compiler"] = "GCC: 3.0"
        count.COUNTS.write_text(json.dumps(stored))
        self.per_round(200)
        status, text = self.run_count()
        self.assertEqual(status, 0)
        self.assertIn("not judged: compiler is ", text)
        self.assertIn("and was GCC: 3.0", text)

    def test_an_update_of_one_keeps_the_rest(self):
        self.run_count("--update")
        self.per_round(200)
        self.run_count("--update", "two")
        self.assertEqual(json.loads(count.COUNTS.read_text())["instructions"], {"one": 100, "two": 200})

    def test_a_failing_program_ends_it(self):
        with mock.patch.object(count, "SCANS", (count.Scan("bad", ("--rounds", "101"), ("x",)),)):
            with self.assertRaises(SystemExit) as caught:
                self.run_count()
        self.assertIn("no such file", str(caught.exception))

    def test_without_valgrind_it_is_skipped(self):
        with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}):
            status, text = self.run_count()
        self.assertEqual(status, 77)
        self.assertIn("there is no valgrind", text)


if __name__ == "__main__":
    unittest.main()
