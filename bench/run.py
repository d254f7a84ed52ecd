"""Runs the benchmarks: every engine side by side on the same data, one process for each measurement.

usage: run.py [--job read] [--size quick|full] [--peers python|all|none|NAME,..] [--rounds N]
              [--sets foreign/zstd,random,..] [--cases all_columns,..] [--threads 1,2] ...

--help tells the rest, docs/benchmarks.md what it means.

For each job: the data is made (once), every contender delivers its content hash in a process of its own, and those
that are right compete in rounds (A, B, C, A, B, C, ...), the first of which warms the page cache and is dropped.
Prints a table for each block when it is done; writes the result document, its report and the history (results.py).

Exit status: 0, or 1 if a contender failed, was killed, delivered something else or could not be run for want of disk or
memory (the rest has run), 2 for wrong options, 130 after Ctrl-C (what was measured till then is written).
"""

import argparse
import collections
import dataclasses
import datetime
import glob
import importlib
import json
import os
import signal
import subprocess
import sys
import time

import data
import hashes
import machine
import measure
import results
import summary
import table
import workload
from peers import build as peers

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(HERE), "build")
HASH_LIBRARY = os.path.join(BUILD, "release", "bench", "content_hash", "libfrazil_content_hash.so")
ROUNDS = {"quick": 3, "full": 7}
MEMORY_SLACK_BYTES = 512 << 20
FIGURES = (
    "rows",
    "batches",
    "files",
    "bytes_read",
    "bytes_written",
    "seconds",
    "seconds_to_first_batch",
    "pool_peak_bytes",
    "rss_peak_bytes",
    "allocations",
    "order",
    "process_seconds",
    "cpu_seconds",
)


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ.setdefault("FRAZIL_CONTENT_HASH", HASH_LIBRARY)  # for runners that cannot know where it is
    engines = available_engines(options)
    for engine in engines:
        if "absent" in engine:
            say(f"{engine['engine']} is absent: {engine['absent']}")
    worst = 0
    for job in options.jobs:
        worst = max(worst, run_job(job, options, engines))
        if worst == 130:
            break
    return worst


def run_job(job, options, engines):
    """All of one job. Returns the exit status."""
    engines = [engine for engine in engines if name_of(job) in engine.get("jobs", [name_of(job)])]
    document = {
        "format": 1,
        "job": name_of(job),
        "question": job.__doc__.splitlines()[0],
        "size": options.size,
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "seconds": None,
        "interrupted": False,
        "machine": machine.facts(os.path.dirname(options.frazil)),
        "versions": versions(options.frazil, engines),
        "options": {name: getattr(options, name) for name in ("size", "rounds", "threads", "sets", "cases", "peers")},
        "tables": [],
        "hashes": [],
        "measurements": [],
        "summary": [],
    }
    started = time.monotonic()
    try:
        blocks = prepared_blocks(job, options, engines, document)
        runs = sum(c.status == "ok" for block in blocks for c in block.contenders)
        minutes = workload.estimate_seconds(blocks, options.rounds) / 60
        say(
            f"{name_of(job)}, {options.size}: {len(blocks)} blocks, {runs} contenders, rounds: {options.rounds}; "
            f"estimate: {minutes:.0f} min on a machine as in docs/benchmarks.md"
        )
        compare_hashes(blocks, options, document)
        for block in blocks:
            run_rounds(block, options, document)
            document["seconds"] = round(time.monotonic() - started, 1)
            results.save(document, options.out)
    except KeyboardInterrupt:
        document["interrupted"] = True
        say("interrupted; what was measured is written")
    document["seconds"] = round(time.monotonic() - started, 1)
    path = results.save(document, options.out)
    report = None if options.no_report else results.write_report(path, options.out)
    results.append_to_history(document, options.out)
    say(f"wrote {' and '.join(filter(None, (path, report)))}")
    bad = collections.Counter(
        (row["engine"], row["status"], row["reason"])
        for row in document["summary"]
        if row["status"] in summary.BAD_STATUSES
    )
    for (engine, status, reason), count in bad.items():
        say(f"{engine} {status} in {count} row{'s' * (count > 1)}: {reason}")
    return 130 if document["interrupted"] else 1 if bad else 0


def prepared_blocks(job, options, engines, document):
    """Makes the data that is not there. Blocks without their data have contenders that are skipped."""
    chosen = {
        d: [case for case in cases if workload.selected(case, options.cases)]
        for d, cases in job.data_sets(options.size).items()
        if workload.selected(d.name, options.sets)
    }
    blocks = []
    for d, cases in chosen.items():
        if not cases:
            continue
        reason = None
        made = {"path": "", "file_bytes": None}
        try:
            if not data.is_made(d, options.data):
                say(f"makes {d.name}, {d.rows} rows in {d.files} files")
            made = data.prepare(d, os.path.dirname(job.__file__), options.data, options.python)
        except data.NoData as error:
            reason = str(error)
        document["tables"].append(
            {
                "set": d.set,
                "codec": d.codec,
                "rows": d.rows,
                "columns": d.columns,
                "files": d.files,
                "arrow_bytes": d.arrow_bytes,
                "file_bytes": made["file_bytes"],
            }
        )
        for case in cases:
            for threads in options.threads:
                found = job.contenders(d, case, threads, options.size, made["path"], engines, [options.frazil])
                if found:
                    block = workload.Block(d, case, threads, found)
                    blocks.append(skipped(block, reason) if reason else block)
    return blocks


def skipped(block, reason):
    return dataclasses.replace(
        block,
        contenders=tuple(
            dataclasses.replace(c, status="skipped", reason=reason) if c.status == "ok" else c for c in block.contenders
        ),
    )


def compare_hashes(blocks, options, document):
    """Every contender of each data set and case delivers once, on the most threads, and tells the hash of it."""
    most_threads = {(block.data, block.case): block for block in sorted(blocks, key=lambda b: b.threads)}
    for block in most_threads.values():
        say(f"hashes of {block.data.name} {block.case}")
        found = []
        for c in block.contenders:
            if c.status != "ok" or not c.hash_command:
                continue
            result = measure.measure(c.hash_command, options.timeout)
            found.append(
                {
                    "set": block.data.set,
                    "codec": block.data.codec,
                    "case": block.case,
                    "engine": c.engine,
                    "configuration": c.configuration,
                    "content_hash": result.get("content_hash"),
                    "rows": result.get("rows"),
                    "status": result["status"],
                    "reason": result["reason"],
                }
            )
        hashes.judge(found)
        document["hashes"] += found


def run_rounds(block, options, document):
    """The rounds of one block; its table is printed at the end."""
    hashed = {
        (h["engine"], h["configuration"]): h
        for h in document["hashes"]
        if (h["set"], h["codec"], h["case"]) == (block.data.set, block.data.codec, block.case)
    }
    available, needed = machine.memory_available_bytes(), 2 * block.data.arrow_bytes + MEMORY_SLACK_BYTES
    if available < needed:
        block = skipped(
            block, f"too little memory: {available / 2**30:.1f} GiB available, {needed / 2**30:.1f} GiB needed"
        )

    def record(contender, number, result):
        document["measurements"].append(
            {
                **block.names,
                "engine": contender.engine,
                "configuration": contender.configuration,
                "round": number,
                "status": result["status"],
                "reason": result["reason"],
                **{name: result.get(name) for name in FIGURES if "seconds" in result},
            }
        )

    running = []
    for c in block.contenders:
        verdict = hashed.get((c.engine, c.configuration), {"status": "ok"})
        if c.status != "ok":
            record(c, None, {"status": c.status, "reason": c.reason})
        elif verdict["status"] != "ok":
            record(c, None, {"status": verdict["status"], "reason": verdict["reason"]})
        else:
            running.append(c)
    said = None
    try:
        for number, c in interleaved(running, options.rounds):
            if number != said:
                said = number
                say(f"{block.data.name} {block.case}, {block.threads} threads, round {number} of {options.rounds}")
            result = checked(measure.measure(c.command, options.timeout), hashed.get((c.engine, c.configuration)))
            if number > 0 or result["status"] != "ok":
                record(c, number, result)
            if result["status"] != "ok":
                running.remove(c)
    finally:
        order = [(c.engine, c.configuration) for c in block.contenders]
        rows = summary.summarize([m for m in document["measurements"] if block.names.items() <= m.items()])
        rows.sort(key=lambda row: order.index((row["engine"], row["configuration"])))
        document["summary"] += rows
        print("\n" + table.text(rows), flush=True)


def interleaved(running, rounds):
    """(round, contender) in the order of `running`; round 0 warms up. Who is removed meanwhile does not come again."""
    for number in range(rounds + 1):
        for contender in list(running):
            if contender in running:
                yield number, contender


def checked(result, verdict):
    """A measurement counts if it has a time and delivered as many rows as were hashed."""
    if result["status"] != "ok":
        return result
    if not isinstance(result.get("seconds"), (int, float)) or result["seconds"] <= 0:
        return {"status": "failed", "reason": "told no seconds"}
    if verdict and result.get("rows") != verdict["rows"]:
        return {
            "status": "failed",
            "reason": f"delivered {result.get('rows')} rows, but {verdict['rows']} for its hash",
        }
    return result


def available_engines(options):
    """What peers/build.py gives; --engines replaces it. Finds the interpreter that makes the data, too."""
    if options.engines:
        options.python = options.python or sys.executable
        with open(options.engines) as file:
            return json.load(file)
    try:
        found = peers.peers("pyiceberg_reader" if options.peers == "none" else options.peers)
    except ValueError as error:
        raise SystemExit(f"bench: {error}") from error
    options.python = options.python or found["python"] or sys.executable
    return found["engines"] if options.peers != "none" else []


def versions(frazil, engines):
    told = {"frazil": frazil_version(frazil)}
    for engine in engines:
        told[engine["engine"]] = engine.get("versions") or f"absent: {engine.get('absent')}"
    return told


def frazil_version(frazil):
    """The version, and the commit that the sources are at."""
    said = []
    for command in ([frazil, "--version"], ["git", "-C", HERE, "describe", "--always", "--dirty"]):
        try:
            said.append(subprocess.run(command, capture_output=True, text=True, timeout=10).stdout.strip())
        except (OSError, subprocess.TimeoutExpired):
            continue
    return ", ".join(filter(None, said))


def name_of(job):
    return os.path.basename(os.path.dirname(job.__file__))


def arguments():
    def names(text):
        return [name for name in text.split(",") if name]

    def numbers(text):
        return [int(number) for number in names(text)]

    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--job", default="", help="one of the folders with a job.py; without it all")
    parser.add_argument("--size", default="quick", choices=["quick", "full"])
    parser.add_argument("--peers", default="python", help="python, all, none, or names as in peers.toml")
    parser.add_argument("--rounds", type=int, help="that count (default: 3 quick, 7 full)")
    parser.add_argument("--sets", type=names, default=[], help="data sets: foreign, foreign/zstd, ...")
    parser.add_argument("--cases", type=names, default=[])
    parser.add_argument("--threads", type=numbers, default=[], help="default: 1 and all cores")
    parser.add_argument("--timeout", type=float, default=300, help="seconds after which a process is killed")
    parser.add_argument("--frazil", default=os.path.join(BUILD, "release", "frazil"))
    parser.add_argument("--data", default=os.environ.get("FRAZIL_BENCH_DATA") or os.path.join(BUILD, "bench", "data"))
    parser.add_argument("--out", default=os.path.join(BUILD, "bench"), help="folder of the results and the history")
    parser.add_argument("--no-report", action="store_true", help="no HTML report")
    parser.add_argument(
        "--engines", help="JSON file with engines that run instead of the peers (as peers/build.py lists them)"
    )
    parser.add_argument("--python", help="interpreter for make_data.py; default: the peers' environment")
    parser.add_argument("--jobs-folder", default=HERE)
    options = parser.parse_args()
    options.rounds = options.rounds or ROUNDS[options.size]
    options.threads = options.threads or workload.default_threads()
    options.frazil, options.data, options.out = (
        os.path.abspath(path) for path in (options.frazil, options.data, options.out)
    )
    sys.path.insert(0, options.jobs_folder)
    there = sorted(
        os.path.basename(os.path.dirname(path)) for path in glob.glob(os.path.join(options.jobs_folder, "*", "job.py"))
    )
    if options.job and options.job not in there:
        parser.error(f"no job {options.job}; there are: {', '.join(there)}")
    options.jobs = [importlib.import_module(f"{name}.job") for name in ([options.job] if options.job else there)]
    return options


if __name__ == "__main__":
    sys.exit(main())
