"""Has job parquet each encoding of each type, on one thread, beside the engines that read files?"""

import os
import sys
import tomllib
import unittest

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, BENCH)

import workload
from parquet import job

with open(os.path.join(BENCH, "peers.toml"), "rb") as file:
    ENGINES = [
        {"engine": name, "command": [name]}
        for name, e in tomllib.load(file)["engines"].items()
        if "parquet" in e.get("jobs", ["parquet"])
    ]


def blocks(size, threads=1, engines=ENGINES):
    return [
        workload.Block(
            data, case, threads, job.contenders(data, case, threads, size, "/v.parquet", engines, ["frazil"])
        )
        for data, cases in job.data_sets(size).items()
        for case in cases
    ]


def contenders(set_name, case="all_columns"):
    found = next(b.contenders for b in blocks("full") if (b.data.set, b.case) == (set_name, case))
    return {c.engine: c for c in found}


class ParquetJob(unittest.TestCase):
    def test_every_encoding_has_its_types(self):
        sets = [d.set for d in job.data_sets("full")]
        self.assertEqual(len(sets), len(set(sets)))
        for encoding, types in {
            "plain": "int32 int64 float double boolean string string_100 fixed_16",
            "dictionary": "int64_100 int64_50000 string_100 string_50000",
            "rle": "boolean",
            "delta": "int32_sequential int32_jittered int64_sequential int64_jittered",
            "delta_length": "string",
            "delta_byte_array": "string",
            "split": "float double int32 int64 fixed_2",
        }.items():
            for type_name in types.split():
                self.assertIn(f"{encoding}_{type_name}", sets)
            self.assertTrue(any(name.startswith(f"{encoding}_") and name.endswith("_nulls") for name in sets), encoding)
        self.assertLessEqual({"list_int64", "list_string", "list_struct", "struct", "map_string_int64"}, set(sets))

    def test_a_full_set_has_four_million_values_in_one_file(self):
        rows = {d.set: d.rows for d in job.data_sets("full")}
        self.assertEqual((rows["plain_int64"], rows["list_int64"]), (4_000_000, 1_000_000))
        self.assertEqual({d.files for d in job.data_sets("full")}, {1})

    def test_on_one_thread_only(self):
        self.assertEqual({b.contenders for b in blocks("quick", threads=2)}, {()})
        for block in blocks("full"):
            for c in block.contenders:
                if c.command:
                    self.assertEqual(c.command[c.command.index("--threads") + 1], "1")

    def test_all_that_read_files_compete_and_no_other(self):
        self.assertEqual(set(contenders("plain_int32")), {*job.ENGINES, "frazil", "floor_frazil"})
        self.assertLessEqual(set(job.ENGINES), {engine["engine"] for engine in ENGINES})
        quick = {c.engine.split("_")[0] for c in blocks("quick")[0].contenders}
        self.assertEqual(quick, {"frazil", "floor", "pyarrow", "polars", "duckdb", "arrow"})

    def test_all_that_is_timed_is_hashed_but_the_floors(self):
        for block in blocks("full"):
            for c in block.contenders:
                if c.status == "ok":
                    self.assertEqual(bool(c.hash_command), not c.engine.startswith("floor"))
                else:
                    self.assertTrue(c.reason)

    def test_the_cases_ask_for_what_they_say(self):
        ours, peer = (contenders("footer_10000_columns", "one_column")[name] for name in ("frazil", "pyarrow_128k"))
        self.assertEqual(ours.command[-2:], ("--select", "c5000"))
        self.assertEqual(peer.command[-2:], ("--columns", "c5000"))
        selective = contenders("sorted_page_index", "one_percent")
        self.assertEqual(selective["pyarrow_128k"].command[-1], "id >= 2000000 and id < 2040000")
        self.assertEqual(selective["frazil"].command[-2:], ("--where", "id >= 2000000 and id < 2040000"))
        self.assertNotIn("floor_frazil", selective)

    def test_what_an_engine_cannot_deliver_is_not_held_against_it(self):
        found = contenders("split_fixed_2")
        self.assertEqual(
            {name for name, c in found.items() if c.status == "not_offered"},
            {"polars_batches", "polars_collect", "duckdb_unordered", "duckdb_ordered"},
        )

    def test_an_absent_engine_says_so(self):
        absent = {"engine": "polars_batches", "absent": "no wheel"}
        self.assertIn("no wheel", [c.reason for c in blocks("quick", engines=[absent])[0].contenders])

    def test_quick_is_at_most_ten_minutes(self):
        self.assertLess(workload.estimate_seconds(blocks("quick"), 3), 600)


if __name__ == "__main__":
    unittest.main()
