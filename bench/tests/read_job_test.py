"""Has job R all its data sets, cases and configurations, and is the quick size quick?"""

import os
import sys
import tomllib
import unittest

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, BENCH)

import workload
from read import job

with open(os.path.join(BENCH, "peers.toml"), "rb") as file:
    ENGINES = {name: e for name, e in tomllib.load(file)["engines"].items() if "jobs" not in e}
PYTHON_ENGINES = [
    {"engine": name, "command": [name]} if engine["runner"] not in ("go", "rust") else {"engine": name, "absent": "no"}
    for name, engine in ENGINES.items()
]
ALL_ENGINES = [{"engine": name, "command": [name]} for name in ENGINES]


def blocks(size, threads, engines):
    return [
        workload.Block(
            data, case, count, job.contenders(data, case, count, size, "/t.metadata.json", engines, ["frazil"])
        )
        for data, cases in job.data_sets(size).items()
        for case in cases
        for count in threads
    ]


def contenders(size, set_name, codec, case):
    return next(
        b.contenders
        for b in blocks(size, [2], ALL_ENGINES)
        if (b.data.set, b.data.codec, b.case) == (set_name, codec, case)
    )


class ReadJob(unittest.TestCase):
    def test_full_has_every_published_configuration(self):
        for set_name in ("foreign", "random", "random_nulls"):
            for codec in ("zstd", "snappy", "none"):
                ours = {
                    c.configuration: c
                    for c in contenders("full", set_name, codec, "all_columns")
                    if c.engine == "frazil"
                }
                self.assertEqual(
                    set(ours),
                    {
                        "default",
                        "sequential",
                        *(f"concurrent {n}" for n in (1, 2, 4, 8, 16)),
                        *(f"{n}MiB {order}" for n in (16, 32, 64, 256) for order in ("task", "arrival")),
                    },
                )
                self.assertEqual(ours["concurrent 4"].status, "not_offered")
                self.assertIn("--order arrival", " ".join(ours["32MiB arrival"].command))
                self.assertIn("--memory 32MiB", " ".join(ours["32MiB arrival"].command))

    def test_full_has_every_data_set_and_case(self):
        there = {(b.data.set, b.case) for b in blocks("full", [2], [])}
        for pair in [
            ("foreign", "two_columns"),
            ("foreign", "one_percent"),
            ("random", "count"),
            ("wide", "all_columns"),
            ("small_files", "all_columns"),
            ("strings_5", "all_columns"),
            ("strings_50", "all_columns"),
            ("strings_500", "all_columns"),
        ]:
            self.assertIn(pair, there)
        sizes = {d.set: (d.rows, d.files, d.columns) for d in job.data_sets("full")}
        self.assertEqual((sizes["foreign"], sizes["small_files"]), ((16_000_000, 32, 5), (5_000_000, 5_000, 5)))
        self.assertEqual(sizes["wide"][1:], (10, 1000))

    def test_quick_leaves_out_no_peer(self):
        peers = {name.split("_")[0] for name in ENGINES}
        self.assertEqual({name.split("_")[0] for name in set(ENGINES) - set(job.NOT_QUICK)}, peers)

    def test_quick_is_at_most_ten_minutes_on_two_cores(self):
        self.assertLess(workload.estimate_seconds(blocks("quick", [1, 2], PYTHON_ENGINES), 3), 600)

    def test_every_engine_runs_in_every_case_or_says_why_not(self):
        for size in ("quick", "full"):
            for block in blocks(size, [1], ALL_ENGINES):
                expected = {*ENGINES, "frazil", "floor_frazil"}
                if size == "quick":
                    expected -= set(job.NOT_QUICK)
                if block.case in ("one_percent", "count") or block.data.set.startswith("own_"):
                    expected -= {"floor_frazil", "floor_arrow"}
                self.assertEqual({c.engine for c in block.contenders}, expected, block)
                self.assertTrue(all(c.command if c.status == "ok" else c.reason for c in block.contenders))

    def test_frazil_filters_and_counts(self):
        for case, words in (("one_percent", "--where id >= 8000000 and id < 8160000"), ("count", "--count")):
            ours = [c for c in contenders("full", "foreign", "zstd", case) if c.engine == "frazil"]
            self.assertEqual({c.status for c in ours}, {"ok"})
            self.assertTrue(all(" ".join(c.command).endswith(words) for c in ours))
            self.assertTrue(all(("--hash" in c.hash_command) == (case != "count") for c in ours))

    def test_all_that_is_timed_is_hashed_but_the_floors(self):
        for block in blocks("full", [2], ALL_ENGINES):
            for c in block.contenders:
                if c.status == "ok":
                    self.assertEqual(bool(c.hash_command), not c.engine.startswith("floor"))

    def test_own_sets_are_read_from_files_of_both_writers(self):
        there = contenders("full", "own_random", "zstd", "all_columns")
        files = {(c.engine, c.configuration): " ".join(c.command) for c in there}
        self.assertEqual({engine for engine, _ in files}, {*ENGINES, "frazil"} - {"floor_arrow"})
        for (engine, configuration), command in files.items():
            self.assertEqual("/own/metadata/" in command, configuration == "own files", engine)
        self.assertEqual(len(files), 2 * len(ENGINES))

    def test_one_percent_is_one_percent_of_the_ids(self):
        data = next(iter(job.data_sets("full")))
        self.assertEqual(job.case_options("one_percent", data), ("--filter", "id >= 8000000 and id < 8160000"))


if __name__ == "__main__":
    unittest.main()
