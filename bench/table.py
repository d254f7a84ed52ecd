"""The terminal's table: a block for each data set, case and number of threads, a row for each engine and configuration.

usage: table.py RESULT.json        prints the table of a result document again
"""

import json
import sys

from summary import BLOCK

MIB = 1 << 20

#          heading, width, decimals, value of a summary row
OF_ROWS = (
    ("M rows/s", 8, 2, lambda r: r["rows_per_second"] and r["rows_per_second"] / 1e6),
    ("seconds", 8, 3, lambda r: r["seconds"] and r["seconds"]["median"]),
    ("spread", 7, 3, lambda r: r["seconds"] and r["seconds"]["max"] - r["seconds"]["min"]),
    ("first ms", 8, 1, lambda r: r["seconds_to_first_batch"] and r["seconds_to_first_batch"]["median"] * 1e3),
    ("pool MiB", 8, 1, lambda r: r["pool_peak_bytes"] and r["pool_peak_bytes"] / MIB),
    ("RSS MiB", 8, 1, lambda r: r["rss_peak_bytes"] and r["rss_peak_bytes"] / MIB),
    ("file MiB", 8, 1, lambda r: ((r["bytes_read"] or 0) + (r["bytes_written"] or 0)) / MIB or None),  # read or written
    ("x floor", 8, 2, lambda r: r["ratio_to_floor"] and r["ratio_to_floor"]["median"]),
)
# Of blocks where an operation takes less than SECONDS_OF_OPERATIONS.
OF_OPERATIONS = (
    ("us", 10, 2, lambda r: r["seconds"] and r["seconds"]["median"] * 1e6),
    ("spread", 9, 2, lambda r: r["seconds"] and (r["seconds"]["max"] - r["seconds"]["min"]) * 1e6),
    ("allocs", 8, 0, lambda r: r["allocations"]),
    ("RSS MiB", 8, 1, lambda r: r["rss_peak_bytes"] and r["rss_peak_bytes"] / MIB),
    ("moved MiB", 9, 2, lambda r: ((r["bytes_read"] or 0) + (r["bytes_written"] or 0)) / MIB),  # read or written
)
SECONDS_OF_OPERATIONS = 1e-3


def text(summary):
    """The rows of one or more blocks, as summary.summarize() gave them."""
    blocks = {}
    for row in summary:
        blocks.setdefault(tuple(row[name] for name in BLOCK), []).append(row)
    return "\n\n".join(_block(rows) for rows in blocks.values())


def _block(rows):
    first = rows[0]
    medians = [row["seconds"]["median"] for row in rows if row["seconds"]]
    columns = OF_OPERATIONS if medians and min(medians) < SECONDS_OF_OPERATIONS else OF_ROWS
    threads = "1 thread" if first["threads"] == 1 else f"{first['threads']} threads"
    names = [
        (
            f"{row['engine']} {row['configuration']}".removesuffix(" default")
            if row["engine"] != "frazil"
            else f"frazil {row['configuration']}"
        )
        for row in rows
    ]
    width = max(map(len, names))
    lines = [
        f"{first['set']} {first['codec']}, {first['case'].replace('_', ' ')}, {threads}",
        " " * width
        + "".join(f" {heading:>{size}}" for heading, size, _, _ in columns)
        + "  best peer's time / own, median [range]",
    ]
    for name, row in zip(names, rows):
        figures = (
            "".join(f" {_number(value(row), decimals):>{size}}" for _, size, decimals, value in columns)
            if row["rounds"]
            else ""
        )
        said = "" if row["status"] == "ok" else f"{row['status'].replace('_', ' ')}: {row['reason']}"
        lines.append(
            "  ".join(part for part in (f"{name:{width}}{figures}", _ratio(row["ratio_to_best_peer"]), said) if part)
        )
    return "\n".join(lines)


def _number(value, decimals):
    return "-" if value is None else f"{value:.{decimals}f}"


def _ratio(ratio):
    return f"{ratio['median']:.2f} [{ratio['min']:.2f}-{ratio['max']:.2f}]" if ratio else ""


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print(text(json.load(file)["summary"]))
