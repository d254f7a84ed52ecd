"""How fast does Frazil stream job R within a byte budget, beside PyIceberg, pyarrow, DuckDB and Polars on the same files?

usage: run.py FRAZIL DATA [--rounds N] [--threads 1,2] [--sets foreign_zstd,...] [--peers name,...] [--out FILE]

Rounds are interleaved: one fresh process for each engine and configuration, one after the other, then the next round;
the first round warms the page cache and is dropped. The ratio to the best peer is taken within each round. Prints a
table for each data set and thread count, and writes every measurement as JSON lines with --out.
"""

import argparse
import glob
import json
import os
import platform
import statistics
import subprocess
import sys

PEERS = ["pyarrow_16k", "pyarrow_128k", "polars_batches", "duckdb_unordered", "pyiceberg_reader"]
BUDGETS = ["16MiB", "32MiB", "64MiB", "256MiB", "16GiB"]
HERE = os.path.dirname(os.path.abspath(__file__))


def frazil(binary, metadata, threads, memory, order):
    command = [binary, "scan", metadata, "--format", "none", "--stats", "--threads", str(threads), "--memory", memory, "--order", order]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stderr.splitlines()[-1])


def peer(engine, metadata, threads):
    command = [sys.executable, os.path.join(HERE, "peer.py"), engine, metadata, str(threads)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("frazil")
    parser.add_argument("data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--sets", default="")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--out")
    options = parser.parse_args()
    sets = sorted(path.split("/")[-5] for path in glob.glob(f"{options.data}/*/r/t/metadata/00032-*.metadata.json"))
    if options.sets:
        sets = [name for name in sets if name in options.sets.split(",")]
    peers = [name for name in options.peers.split(",") if name]
    log = open(options.out, "a") if options.out else None
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, kernel {platform.release()}, {options.rounds} rounds")
    for name in sets:
        metadata = glob.glob(f"{options.data}/{name}/r/t/metadata/00032-*.metadata.json")[0]
        for threads in (int(text) for text in options.threads.split(",")):
            runs = {f"frazil {memory}": (frazil, (options.frazil, metadata, threads, memory, "task")) for memory in BUDGETS}
            runs["frazil 64MiB arrival"] = (frazil, (options.frazil, metadata, threads, "64MiB", "arrival"))
            runs |= {engine: (peer, (engine, metadata, threads)) for engine in peers}
            results = {key: [] for key in runs}
            for number in range(options.rounds + 1):
                for key, (function, arguments) in runs.items():
                    result = function(*arguments)
                    if number == 0:
                        continue
                    results[key].append(result)
                    if log:
                        print(json.dumps({"set": name, "configuration": key, "round": number, **result}), file=log, flush=True)
            best = [min(results[engine][i]["seconds"] for engine in peers) for i in range(options.rounds)] if peers else None
            print(f"\n{name}, {threads} threads")
            print(f"{'':22} {'M rows/s':>9} {'seconds':>8} {'first ms':>9} {'pool MiB':>9} {'RSS MiB':>8}  best peer's time / its own, median [range]")
            for key, values in results.items():
                median = lambda field: statistics.median(value[field] for value in values)
                ratio = ""
                if best:
                    ratios = [b / value["seconds"] for b, value in zip(best, values)]
                    ratio = f"{statistics.median(ratios):.2f} [{min(ratios):.2f}-{max(ratios):.2f}]"
                print(f"{key:22} {median('rows') / median('seconds') / 1e6:9.1f} {median('seconds'):8.3f} {median('seconds_to_first_batch') * 1e3:9.1f} "
                      f"{median('pool_peak_bytes') / 2**20:9.1f} {median('rss_peak_bytes') / 2**20:8.1f}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
