"""Does the runner keep its word? Order, statuses, exit status, Ctrl-C, estimate and history, with fake engines."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
sys.path[:0] = [BENCH, HERE]

import results
import run
import schema_test
import workload

ENGINE = os.path.join(HERE, "fake_jobs", "fake", "engine.py")


def text_of(path):
    with open(path) as file:
        return file.read()


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.frazil = os.path.join(self.folder, "frazil")
        with open(self.frazil, "w") as file:  # also answers --version
            file.write(f'#!/bin/sh\n[ "$1" = --version ] && echo 9.9.9 && exit\nexec {sys.executable} {ENGINE} "$@"\n')
        os.chmod(self.frazil, 0o755)

    def command(self, *engines, rounds=2, more=()):
        path = os.path.join(self.folder, "engines.json")
        with open(path, "w") as file:
            json.dump(
                [
                    engine if isinstance(engine, dict) else {"engine": engine, "command": [sys.executable, ENGINE]}
                    for engine in engines
                ],
                file,
            )
        return [
            sys.executable,
            os.path.join(BENCH, "run.py"),
            "--jobs-folder",
            os.path.join(HERE, "fake_jobs"),
            "--job",
            "fake",
            "--engines",
            path,
            "--frazil",
            self.frazil,
            "--data",
            os.path.join(self.folder, "data"),
            "--out",
            self.folder,
            "--no-report",
            "--rounds",
            str(rounds),
            "--threads",
            "1",
            "--cases",
            "all_columns",
            *more,
        ]

    def run_it(self, *engines, environment=None, **options):
        done = subprocess.run(
            self.command(*engines, **options),
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **(environment or {})},
        )
        self.output = done.stdout + done.stderr
        return done.returncode

    def document(self):
        with open(os.path.join(self.folder, "results", "fake-quick.json")) as file:
            return json.load(file)

    def rows(self):
        return {row["engine"]: row for row in self.document()["summary"]}

    def calls(self):
        with open(os.path.join(self.folder, "data", "tiny_none_1x1000", "calls")) as file:
            return [line.split() for line in file]

    def test_rounds_are_interleaved_after_all_hashes(self):
        self.assertEqual(self.run_it("one", "two", rounds=2), 0, self.output)
        everyone = ["one", "two", "frazil"]
        self.assertEqual(
            [call[:2] for call in self.calls()],
            [["hash", name] for name in everyone] + [["time", name] for _ in range(3) for name in everyone],
        )

    def test_the_warm_up_round_is_dropped(self):
        self.assertEqual(self.run_it("one", rounds=2), 0, self.output)
        self.assertEqual([m["round"] for m in self.document()["measurements"]], [1, 1, 2, 2])

    def test_hashes_come_before_any_time_of_any_block(self):
        self.assertEqual(
            self.run_it("one", rounds=1, more=["--cases", "all_columns,two_columns", "--threads", "1,2"]),
            0,
            self.output,
        )
        what = [call[0] for call in self.calls()]
        self.assertEqual(what, ["hash"] * 4 + ["time"] * 16)  # hashed once for each case, on the most threads
        self.assertEqual({call[3] for call in self.calls() if call[0] == "hash"}, {"2"})

    def test_without_contenders_there_is_no_block_and_the_others_are_hashed(self):
        self.assertEqual(self.run_it("one", rounds=1, more=["--threads", "1,3"]), 0, self.output)
        self.assertEqual([call[0] for call in self.calls()], ["hash"] * 2 + ["time"] * 4)
        self.assertEqual({row["threads"] for row in self.document()["summary"]}, {1})

    def test_bad_engines_have_their_row_and_the_rest_goes_on(self):
        bad = ["failing", "failing_later", "hanging", "killed", "garbage", "wrong", "few_rows"]
        status = self.run_it(
            "one", "two", *bad, "refusing", {"engine": "gone", "absent": "not on this planet"}, more=["--timeout", "2"]
        )
        self.assertEqual(status, 1, self.output)
        rows = self.rows()
        self.assertEqual(
            {name: row["status"] for name, row in rows.items()},
            {
                "one": "ok",
                "two": "ok",
                "frazil": "ok",
                "failing": "failed",
                "failing_later": "failed",
                "hanging": "killed",
                "killed": "killed",
                "garbage": "failed",
                "wrong": "wrong_hash",
                "few_rows": "failed",
                "refusing": "not_offered",
                "gone": "absent",
            },
        )
        self.assertIn("no such file", rows["failing"]["reason"])
        self.assertIn("no result within 2 s", rows["hanging"]["reason"])
        self.assertIn("delivered 999 rows, but 1000", rows["few_rows"]["reason"])
        self.assertEqual(rows["one"]["rounds"], 2)
        self.assertEqual(schema_test.violations(self.document(), schema_test.documented()), [])
        timed = [call[1] for call in self.calls() if call[0] == "time"]
        for name in ("failing", "killed", "garbage", "wrong", "refusing"):
            self.assertNotIn(name, timed)  # its hash already told
        self.assertEqual(timed.count("failing_later"), 1)  # not run again
        self.assertIn("wrong hash", self.output)

    def test_absent_and_not_offered_are_no_failure(self):
        self.assertEqual(self.run_it("one", "refusing", {"engine": "gone", "absent": "not here"}), 0, self.output)

    def test_a_slowed_frazil_shows_in_the_ratio(self):
        self.assertEqual(self.run_it("one", "two"), 0, self.output)
        usual = self.rows()["frazil"]["ratio_to_best_peer"]["median"]
        self.assertEqual(self.run_it("one", "two", environment={"FAKE_FRAZIL_SECONDS": "0.3"}), 0, self.output)
        self.assertLess(self.rows()["frazil"]["ratio_to_best_peer"]["max"], usual / 3)

    def test_too_little_disk_skips_the_block(self):
        rows = 10**15
        self.assertEqual(self.run_it("one", environment={"FAKE_ROWS": str(rows)}), 1, self.output)
        self.assertEqual({row["status"] for row in self.rows().values()}, {"skipped"})
        self.assertIn("too little disk", self.rows()["one"]["reason"])

    def test_data_that_cannot_be_made_skips_its_blocks_and_says_why(self):
        self.assertEqual(self.run_it("one", environment={"FAKE_ROWS": "-1"}), 1, self.output)
        self.assertEqual(self.rows()["one"]["status"], "skipped")
        self.assertEqual(self.rows()["one"]["reason"], "make_data.py failed: ValueError: no rows")

    def test_data_is_made_once_and_anew_for_another_recipe(self):
        made = os.path.join(self.folder, "data", "made")
        for _ in range(2):
            self.assertEqual(self.run_it(), 0, self.output)
        self.assertEqual(text_of(made), "made\n")
        stamp = os.path.join(self.folder, "data", "tiny_none_1x1000", "recipe.json")
        text = text_of(stamp)
        with open(stamp, "w") as file:
            file.write(text.replace('"version": 1', '"version": 0'))
        self.assertEqual(self.run_it(), 0, self.output)
        self.assertEqual(text_of(made), "made\nmade\n")

    def test_the_history_holds_every_run_also_after_a_line_cut_short(self):
        self.assertEqual(self.run_it("one"), 0, self.output)
        with open(os.path.join(self.folder, "history.jsonl"), "a") as file:
            file.write('{"format": 1, "jo\n')
        self.assertEqual(self.run_it("one", "two"), 0, self.output)
        documents = results.history(self.folder)
        self.assertEqual([sorted(d["versions"]) for d in documents], [["frazil", "one"], ["frazil", "one", "two"]])
        self.assertEqual(documents[-1], self.document())

    def test_ctrl_c_kills_the_children_and_writes_what_is_there(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                started = subprocess.Popen(
                    self.command("one", "hanging"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
                deadline = time.monotonic() + 60
                while b"hanging" not in b"".join(
                    b" ".join(os.fsencode(word) for word in call) for call in self.timed_calls()
                ):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                started.send_signal(number)
                output, _ = started.communicate(timeout=60)
                self.assertEqual(started.returncode, 130, output)
                self.assertTrue(self.document()["interrupted"])
                self.assertEqual(len(self.document()["hashes"]), 3)
                self.assertFalse(self.processes_on(self.folder), "a child lives on")
                os.remove(os.path.join(self.folder, "data", "tiny_none_1x1000", "calls"))

    def timed_calls(self):
        try:
            return [call for call in self.calls() if call[0] == "time"]
        except FileNotFoundError:
            return []

    @staticmethod
    def processes_on(text):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if text.encode() in file.read():
                        found.append(pid)
            except OSError:
                continue
        return found

    def test_wrong_options_are_refused(self):
        self.assertEqual(self.run_it(more=["--job", "nothing"]), 2)
        self.assertEqual(self.run_it(more=["--size", "huge"]), 2)


class Parts(unittest.TestCase):
    def test_too_little_memory_skips_the_block(self):
        data = workload.DataSet("s", "none", 1 << 30, 1, 1, 8)
        block = workload.Block(
            data,
            "all_columns",
            1,
            (workload.Contender("a", "x", ("false",)), workload.Contender("b", "x", status="absent")),
        )
        document = {"hashes": [], "measurements": [], "summary": []}
        with unittest.mock.patch("machine.memory_available_bytes", lambda: 16 << 30), contextlib.redirect_stdout(
            io.StringIO()
        ):
            run.run_rounds(block, types.SimpleNamespace(rounds=3, timeout=5), document)
        self.assertEqual([m["status"] for m in document["measurements"]], ["skipped", "absent"])
        self.assertEqual(document["summary"][0]["reason"], "too little memory: 16.0 GiB available, 16.5 GiB needed")

    def test_who_is_removed_does_not_come_again(self):
        running = ["a", "b", "c"]
        order = []
        for number, contender in run.interleaved(running, 2):
            order.append((number, contender))
            if (number, contender) == (1, "b"):
                running.remove("b")
        self.assertEqual(order, [(0, "a"), (0, "b"), (0, "c"), (1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "c")])

    def test_the_estimate_counts_warm_up_rounds_and_one_hash_for_each_case(self):
        data = workload.DataSet("s", "none", 10, 1, 1, 8)
        both = (
            workload.Contender("a", "x", ("a",), ("a", "--hash"), seconds=3),
            workload.Contender("floor_arrow", "x", ("f",), seconds=1),
            workload.Contender("b", "x", status="absent", seconds=1000),
        )
        blocks = [workload.Block(data, "all_columns", threads, both) for threads in (1, 2)]
        self.assertEqual(workload.estimate_seconds(blocks, 5), 2 * 6 * (3 + 1) + 2 * 3)
        self.assertEqual(workload.estimate_seconds([], 5), 0)

    def test_a_set_stands_for_all_its_codecs(self):
        self.assertTrue(workload.selected("foreign/zstd", []))
        self.assertTrue(workload.selected("foreign/zstd", ["foreign"]))
        self.assertTrue(workload.selected("foreign/zstd", ["random", "foreign/zstd"]))
        self.assertFalse(workload.selected("foreign/zstd", ["foreign/none", "random"]))


if __name__ == "__main__":
    unittest.main()
