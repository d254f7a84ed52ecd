"""Are ratios taken within a round, against the best peer and the floor of that round, whatever is missing?"""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import summary


def measured(engine, seconds, configuration="default", rows=100, **more):
    """One measurement for each of `seconds`, in rounds 1, 2, ...; None is a round without."""
    return [
        {
            "set": "s",
            "codec": "zstd",
            "case": "all_columns",
            "threads": 1,
            "engine": engine,
            "configuration": configuration,
            "round": number,
            "status": "ok",
            "reason": None,
            "rows": rows,
            "seconds": value,
            **more,
        }
        for number, value in enumerate(seconds, 1)
        if value is not None
    ]


def row(measurements, engine, configuration="default"):
    return next(
        r for r in summary.summarize(measurements) if (r["engine"], r["configuration"]) == (engine, configuration)
    )


class Ratios(unittest.TestCase):
    def test_the_best_peer_is_that_of_each_round(self):
        found = measured("frazil", [1, 2, 4]) + measured("polars", [2, 1, 8]) + measured("pyarrow", [3, 5, 4])
        self.assertEqual(
            row(found, "frazil")["ratio_to_best_peer"], {"median": 1, "min": 0.5, "max": 2, "rounds": [2, 0.5, 1]}
        )

    def test_a_peer_is_as_good_as_its_best_configuration(self):
        found = measured("frazil", [1]) + measured("rust", [4], "lanes 1") + measured("rust", [2], "lanes 2")
        self.assertEqual(row(found, "frazil")["ratio_to_best_peer"]["rounds"], [2])

    def test_the_best_peer_has_one_and_ties_have_one_each(self):
        found = measured("frazil", [2, 2]) + measured("polars", [2, 4]) + measured("pyarrow", [2, 8])
        for engine, rounds in (("frazil", [1, 2]), ("polars", [1, 1]), ("pyarrow", [1, 0.5])):
            self.assertEqual(row(found, engine)["ratio_to_best_peer"]["rounds"], rounds, engine)

    def test_rounds_that_one_side_missed_have_no_ratio(self):
        found = measured("frazil", [1, None, 1, 1]) + measured("polars", [3, 3, None, 5])
        self.assertEqual(row(found, "frazil")["ratio_to_best_peer"]["rounds"], [3, 5])
        self.assertEqual(row(found, "frazil")["ratio_to_best_peer"]["median"], 4)

    def test_without_peers_there_is_no_ratio(self):
        found = measured("frazil", [1]) + measured("floor_arrow", [1])
        self.assertIsNone(row(found, "frazil")["ratio_to_best_peer"])

    def test_neither_frazil_nor_a_floor_is_a_peer(self):
        found = (
            measured("frazil", [1])
            + measured("floor_arrow", [0.1])
            + measured("floor_frazil", [0.1])
            + measured("polars", [2])
        )
        self.assertEqual(row(found, "frazil")["ratio_to_best_peer"]["rounds"], [2])

    def test_the_floor_is_ours_and_arrows_where_ours_did_not_run(self):
        found = measured("frazil", [3, 3]) + measured("floor_arrow", [1, 1]) + measured("floor_frazil", [2, None])
        self.assertEqual(row(found, "frazil")["ratio_to_floor"]["rounds"], [1.5, 3])

    def test_other_blocks_do_not_count(self):
        other = [{**m, "threads": 2} for m in measured("polars", [0.001])]
        found = measured("frazil", [1]) + measured("polars", [2]) + other
        self.assertEqual(row(found, "frazil")["ratio_to_best_peer"]["rounds"], [2])


class Rows(unittest.TestCase):
    def test_figures_are_medians_of_time_and_peaks_of_memory(self):
        found = measured("frazil", [3, 1, 2], rss_peak_bytes=5) + measured(
            "frazil", [None] * 3 + [10], rss_peak_bytes=9
        )
        got = row(found, "frazil")
        self.assertEqual(got["seconds"], {"median": 2.5, "min": 1, "max": 10})
        self.assertEqual(
            (got["rows_per_second"], got["rss_peak_bytes"], got["rounds"], got["pool_peak_bytes"]), (40, 9, 4, None)
        )

    def test_a_failure_marks_the_row_and_good_rounds_keep_their_figures(self):
        failure = {**measured("polars", [1])[0], "round": 3, "status": "failed", "reason": "out of luck"}
        del failure["seconds"]
        got = row(measured("polars", [1, 2]) + [failure], "polars")
        self.assertEqual(
            (got["status"], got["reason"], got["seconds"]["median"], got["rounds"]), ("failed", "out of luck", 1.5, 2)
        )

    def test_a_contender_that_never_ran_has_a_row_without_figures(self):
        absent = {name: value for name, value in measured("go", [1])[0].items() if name not in ("rows", "seconds")}
        got = row([{**absent, "status": "absent", "round": None}], "go")
        self.assertEqual(
            (got["status"], got["seconds"], got["rows_per_second"], got["ratio_to_best_peer"]),
            ("absent", None, None, None),
        )


class Sample(unittest.TestCase):
    def test_the_sample_is_what_its_maker_makes(self):
        made = subprocess.run(
            [sys.executable, os.path.join(HERE, "make_sample.py")], capture_output=True, check=True
        ).stdout
        with open(os.path.join(HERE, "sample_result.json"), "rb") as file:
            self.assertTrue(made == file.read(), "make it anew: make_sample.py > sample_result.json")

    def test_the_sample_has_every_status(self):
        with open(os.path.join(HERE, "sample_result.json")) as file:
            found = {r["status"] for r in json.load(file)["summary"]}
        self.assertEqual(found, {"ok", "failed", "killed", "wrong_hash", "absent", "not_offered", "not_yet", "skipped"})


if __name__ == "__main__":
    unittest.main()
