"""Page indexes that frazil writes, held against the values by parquet-java (PageIndexOracle.java).

Usage: page_index.py REWRITE_PROGRAM [--fetch] [SEED ...]

For each seed (without any: those of tests/seeds.py) a random table of differential.py is written with random options and
an index. --fetch: gets the libraries of Iceberg Java if they are not there. Without Java, or its libraries, it is skipped.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "interop"))

import differential
import java_oracle
import seeds
import written

CODECS = ["uncompressed", "snappy", "gzip", "zstd"]  # those that come with the libraries


def random_options(rng):
    options = written.random_options(rng, [])
    for name in ("--codec", "--level"):
        if name in options:
            del options[options.index(name):options.index(name) + 2]
    histograms = ["--page-histograms"] if rng.random() < 0.5 else []
    return ["--codec", rng.choice(CODECS), *histograms, *(option for option in options if option != "--no-page-index")]


def write_files(rewrite, folder, chosen):
    for seed in chosen:
        source, target = os.path.join(folder, "source"), os.path.join(folder, f"{seed}.parquet")
        try:
            differential.make_file(seed, source)
        except differential.REFUSALS:
            continue
        subprocess.run([rewrite, *random_options(random.Random(seed)), source, target], check=True, capture_output=True, timeout=300)
        yield target


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--fetch"]
    if not arguments:
        sys.exit(__doc__)
    why_not = java_oracle.missing("--fetch" in sys.argv)
    if why_not:
        print(f"skipped: {why_not}")
        sys.exit(77)
    chosen = seeds.chosen(arguments[1:], at_least=40, per_second=0.5)
    with tempfile.TemporaryDirectory(prefix="frazil-page-index-") as folder:
        files = list(write_files(arguments[0], folder, chosen))
        command = java_oracle.command(os.path.join(HERE, "PageIndexOracle.java"), *files)
        done = subprocess.run(command, capture_output=True, timeout=900)
        print(done.stdout.decode()[-5000:] + (done.stderr.decode()[-2000:] if done.returncode else ""))
    counts = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
    # Half of the files are asked for histograms, and only columns with levels have them.
    enough = counts and counts["pages"] > len(chosen) and counts["histograms"] > len(chosen) // 4
    sys.exit(0 if done.returncode == 0 and enough and counts["bad"] == 0 else 1)


if __name__ == "__main__":
    main()
