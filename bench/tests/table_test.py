"""Is the terminal's table what we think?"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import summary
import table

MIB = 1 << 20
BLOCK = {"set": "foreign", "codec": "zstd", "case": "two_columns", "threads": 2}


def measured(engine, configuration, *seconds, **figures):
    return [
        {
            **BLOCK,
            "engine": engine,
            "configuration": configuration,
            "round": number,
            "status": "ok",
            "reason": None,
            "rows": 8_000_000,
            "seconds": value,
            **figures,
        }
        for number, value in enumerate(seconds, 1)
    ]


def not_run(engine, configuration, status, reason):
    return [
        {**BLOCK, "engine": engine, "configuration": configuration, "round": None, "status": status, "reason": reason}
    ]


class Table(unittest.TestCase):
    maxDiff = None

    def test_a_block(self):
        found = (
            measured("floor_frazil", "default", 0.25, 0.25)
            + measured("polars", "default", 0.5, 0.7, rss_peak_bytes=200 * MIB)
            + measured(
                "frazil",
                "64MiB task",
                0.4,
                0.4,
                seconds_to_first_batch=0.01,
                pool_peak_bytes=40 * MIB,
                rss_peak_bytes=46 * MIB,
                bytes_read=130 * MIB,
            )
            + not_run("frazil", "concurrent 4", "not_offered", "no such knob")
        )
        self.assertEqual(
            table.text(summary.summarize(found)),
            """\
foreign zstd, two columns, 2 threads
                    M rows/s  seconds  spread first ms pool MiB  RSS MiB file MiB  x floor  best peer's time / own, median [range]
floor_frazil           32.00    0.250   0.000        -        -        -        -     1.00  2.40 [2.00-2.80]
polars                 13.33    0.600   0.200        -        -    200.0        -     2.40  1.00 [1.00-1.00]
frazil 64MiB task      20.00    0.400   0.000     10.0     40.0     46.0    130.0     1.60  1.50 [1.25-1.75]
frazil concurrent 4  not offered: no such knob""",
        )

    def test_operations_of_microseconds_have_columns_of_their_own(self):
        found = measured("arrow_cpp", "default", 40e-6, 44e-6, allocations=578, rss_peak_bytes=23 * MIB) + measured(
            "frazil", "default", 2e-6, 2.2e-6, allocations=12, bytes_read=MIB
        )
        self.assertEqual(
            table.text(summary.summarize(found)),
            """\
foreign zstd, two columns, 2 threads
                       us    spread   allocs  RSS MiB moved MiB  best peer's time / own, median [range]
arrow_cpp           42.00      4.00      578     23.0      0.00  1.00 [1.00-1.00]
frazil default       2.10      0.20       12        -      1.00  20.00 [20.00-20.00]""",
        )

    def test_a_row_that_failed_later_has_figures_and_the_reason(self):
        failure = {**not_run("polars", "default", "killed", "signal 9")[0], "round": 2}
        text = table.text(summary.summarize(measured("polars", "default", 0.5) + [failure]))
        self.assertTrue(text.endswith("1.00 [1.00-1.00]  killed: signal 9"), text)

    def test_blocks_are_apart(self):
        other = [{**m, "threads": 1} for m in measured("polars", "default", 1)]
        text = table.text(summary.summarize(measured("polars", "default", 1) + other))
        self.assertEqual(
            [line for line in text.splitlines() if "columns" in line],
            ["foreign zstd, two columns, 2 threads", "foreign zstd, two columns, 1 thread"],
        )

    def test_nothing(self):
        self.assertEqual(table.text([]), "")


if __name__ == "__main__":
    unittest.main()
