#!/usr/bin/env python3
"""Does Frazil need more instructions than before? Counts those of a few fixed reads, which no noise of a machine changes.

Usage: count.py [--binary PATH] [--update] [SCAN ...]

Each read runs under callgrind, one thread, without AVX-512 (valgrind does not know it). What is counted is the
difference of two runs, so that starting the program is not in it. counts.json holds the counts of the last commit that
changed them on purpose, and by which compiler and libraries they are: others give other counts, which are printed but not
judged. Exit status 1: a read takes over 2 % more than before. 77: there is no valgrind. --update writes the counts.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COUNTS = HERE / "counts.json"
LIMIT_PERCENT = 2.0
ROUNDS = 21  # repeated counts of one binary still differ by 0.1 %: how threads wait for each other is not the same twice
# What the C library takes from the processor's caches.
TUNABLES = "glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.cpu.x86_rep_movsb_threshold=0x800"
PROCESSOR_FLAGS = {"avx2", "bmi1", "bmi2", "fma", "erms", "fsrm", "asimd", "crc32"}


@dataclass(frozen=True)
class Scan:
    """What is counted: (instructions of `command` - those of `without`) / `divisor`."""

    name: str
    command: tuple
    without: tuple
    divisor: int = 1


def read(name, *arguments):
    """One round of `frazil bench read`."""
    def rounds(count):
        return ("bench", "read", *arguments, "--threads", "1", "--rounds", str(count), "--output", "json", "--quiet")

    return Scan(name, rounds(ROUNDS), rounds(1), ROUNDS - 1)


def data(name):
    return str(HERE / "data" / f"{name}.parquet")


def table(name):
    return str(ROOT / "tests/corpora/iceberg-tables/duckdb" / name)


SCANS = (
    *(read(f"foreign_{codec}", data(f"foreign_{codec}")) for codec in ("none", "snappy", "zstd", "gzip", "brotli", "lz4")),
    read("random_zstd", data("random_zstd")),
    read("nulls_zstd", data("nulls_zstd")),
    read("plain_integers", data("foreign_none"), "--select", "id"),
    read("plain_strings", data("foreign_none"), "--select", "label"),
    read("dictionary_strings", data("random_zstd"), "--select", "label"),
    read("wide_footer", data("wide"), "--select", "column_7"),
    read("table", table("iceberg/lineitem_iceberg_gz"), "--select", "l_orderkey,l_extendedprice,l_shipdate,l_comment"),
    read("floor_zstd", data("foreign_zstd"), "--floor"),
    # Opens every manifest of 5,000 files; what it prints is one line.
    Scan("manifests", ("partitions", table("generated_bounds"), "--threads", "1", "--quiet"),
         ("uuid", table("generated_bounds"), "--quiet")),
)


def instructions(binary, arguments):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(binary), *arguments],
        capture_output=True, text=True, timeout=600,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "FRAZIL_SIMD": "avx2", "GLIBC_TUNABLES": TUNABLES})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"count: {' '.join(arguments)} failed with {done.returncode}:\n{done.stderr}")
    return int(found.group(1))


def count(binary, scan):
    return round((instructions(binary, scan.command) - instructions(binary, scan.without)) / scan.divisor)


def made_by(binary):
    """What decides about the counts beside our own code, as {what: version}."""
    def output(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    comment = output("readelf", "-p", ".comment", str(binary))
    compilers = sorted({line.split("]", 1)[1].strip() for line in comment.splitlines() if re.search("GCC|clang", line)})
    libraries = re.findall(r"=> (/\S+)", output("ldd", str(binary)))
    return {
        "compiler": "; ".join(compilers),
        "C library": output("ldd", "--version").splitlines()[0],
        "libraries": " ".join(sorted(os.path.basename(os.path.realpath(path)) for path in libraries)),
        "valgrind": output("valgrind", "--version").strip(),
        "processor": " ".join(sorted(PROCESSOR_FLAGS & set(pathlib.Path("/proc/cpuinfo").read_text().split()))),
    }


def compare(before, now):
    """[(name, before or None, now, change in percent or None, verdict)]; verdict is "slower", "faster" or "" ."""
    rows = []
    for name, value in now.items():
        old = before.get(name)
        change = None if not old else (value - old) * 100 / old
        verdict = "" if change is None or abs(change) <= LIMIT_PERCENT else "slower" if change > 0 else "faster"
        rows.append((name, old, value, change, verdict))
    return rows


def table_text(rows):
    lines = [f"{'scan':20} {'before':>14} {'now':>14} {'change':>9}"]
    for name, old, value, change, verdict in rows:
        shown = "new" if change is None else f"{change:+.2f} %"
        lines.append(f"{name:20} {'' if old is None else f'{old:,}':>14} {value:>14,} {shown:>9} {verdict}".rstrip())
    return "\n".join(lines)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=ROOT / "build/release/frazil", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write the counts to counts.json")
    parser.add_argument("scans", metavar="SCAN", nargs="*", help="only these: " + ", ".join(s.name for s in SCANS))
    options = parser.parse_args(arguments)
    unknown = set(options.scans) - {scan.name for scan in SCANS}
    if unknown:
        parser.error(f"there is no scan {', '.join(sorted(unknown))}")
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind (apt-get install valgrind)")
        return 77
    if not options.binary.exists():
        sys.exit(f"count: there is no {options.binary}: make build, or --binary PATH")

    stored = json.loads(COUNTS.read_text()) if COUNTS.exists() else {"made_by": {}, "instructions": {}}
    scans = [scan for scan in SCANS if not options.scans or scan.name in options.scans]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        now = dict(zip([scan.name for scan in scans], pool.map(lambda scan: count(options.binary, scan), scans)))
    rows = compare(stored["instructions"], now)
    print(table_text(rows))
    versions = made_by(options.binary)
    others = [what for what, version in versions.items() if stored["made_by"].get(what) != version]
    if options.update:
        kept = {} if others else {n: v for n, v in stored["instructions"].items() if n in {s.name for s in SCANS}}
        COUNTS.write_text(json.dumps({"made_by": versions, "instructions": {**kept, **now}}, indent=1) + "\n")
        return 0
    for what in others:
        print(f"not judged: {what} is {versions[what]}\n            and was {stored['made_by'].get(what)}")
    return 0 if others else int(any(verdict == "slower" for *_, verdict in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
