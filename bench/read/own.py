"""Are Frazil's files small and fast, for Frazil and for its peers? Sums up the own_* sets of a result document of job R.

usage: own.py [RESULT.json [DATA_FOLDER]]        default: the newest full result, build/bench/data

For each set and number of threads: the bytes of Frazil's files and of PyIceberg's; how many times as fast Frazil reads its
own files as the best peer reads PyIceberg's; and for each peer its time on PyIceberg's files over that on Frazil's (1 or
more: not slower). Ratios are medians over the rounds, in which all take turns.
"""

import glob
import json
import os
import sys

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, BENCH)

import data  # noqa: E402
import summary  # noqa: E402
from read import job  # noqa: E402

OUT = os.path.join(os.path.dirname(BENCH), "build", "bench")


def seconds_of(block, engine, configuration):
    """{round: seconds}"""
    return {
        m["round"]: m["seconds"]
        for m in block
        if (m["engine"], m["configuration"], m["status"]) == (engine, configuration, "ok")
    }


def ratio(above, below):
    """"median [least-greatest]" of above / below, round by round."""
    found = summary.ratio({n: (above[n], below[n]) for n in above if n in below})
    return f"{found['median']:.2f} [{found['min']:.2f}-{found['max']:.2f}]" if found else "-"


def text(measurements, sizes):
    """`sizes`: {set: {"pyiceberg": bytes, "frazil": bytes}}"""
    blocks = {}
    for m in measurements:
        if m["set"].startswith(job.OWN):
            blocks.setdefault((m["set"], m["threads"]), []).append(m)
    lines = []
    for (name, threads), block in blocks.items():
        size = sizes[name]
        on_theirs = [m for m in block if m["configuration"] == "default"]
        best = summary.best_peer_seconds(on_theirs)
        lines.append(f"{name}, threads: {threads}")
        lines.append(f"  bytes: {size['frazil']:,} of {size['pyiceberg']:,}, {size['frazil'] / size['pyiceberg']:.3f} x")
        lines.append(f"  best peer on PyIceberg's / frazil on own: {ratio(best, seconds_of(block, 'frazil', job.OWN_FILES))}")
        for engine in dict.fromkeys(m["engine"] for m in block):
            pair = (seconds_of(block, engine, "default"), seconds_of(block, engine, job.OWN_FILES))
            lines.append(f"  {engine}: on PyIceberg's / on Frazil's files: {ratio(*pair)}")
    return "\n".join(lines)


def data_bytes(table):
    return sum(os.path.getsize(path) for path in glob.glob(f"{table}/data/*.parquet"))


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(OUT, "results", "read-full.json")
    root = sys.argv[2] if len(sys.argv) > 2 else os.path.join(OUT, "data")
    with open(path) as file:
        document = json.load(file)
    sizes = {}
    for made in job.data_sets(document["size"]):
        if made.set.startswith(job.OWN):
            tables = os.path.join(data.folder_of(made, root), "r")
            sizes[made.set] = {"pyiceberg": data_bytes(f"{tables}/t"), "frazil": data_bytes(f"{tables}/own")}
    print(text(document["measurements"], sizes))


if __name__ == "__main__":
    main()
