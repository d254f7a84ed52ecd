"""How fast does one Python engine read a table? One measurement, in this process, as one JSON object on stdout.

usage: reader.py read --engine NAME --metadata METADATA_JSON --threads N [--columns a,b] [--filter "id >= 1 and id < 2"]
               [--count] [--hash] [--batch-rows N] [--concurrency N] [--corrupt value|swap|duplicate]

Time counts from before the metadata file is read until the last batch was dropped; every batch is an Arrow batch with
all its buffers, released at once. A knob that the API lacks prints {"not_offered": reason}. --hash delivers untimed and
needs the library that `ninja -C build/release frazil_content_hash` builds, or the one that $FRAZIL_CONTENT_HASH names.
--corrupt damages what is hashed and exists only for the test of the instrument.
"""

import argparse
import json
import os
import sys
import time

import engines

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
HASH_LIBRARY = os.path.join(ROOT, "build", "release", "bench", "content_hash", "libfrazil_content_hash.so")


def arguments():
    parser = argparse.ArgumentParser(prog="reader.py", usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("operation", choices=["read"])
    parser.add_argument("--engine", required=True, choices=sorted(engines.ENGINES))
    parser.add_argument("--metadata", required=True)
    parser.add_argument("--threads", required=True, type=positive)
    parser.add_argument("--columns", type=lambda text: text.split(","))
    parser.add_argument("--filter")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--hash", action="store_true")
    parser.add_argument("--batch-rows", type=positive)
    parser.add_argument("--concurrency", type=positive)
    parser.add_argument("--corrupt", choices=["value", "swap", "duplicate"])
    request = parser.parse_args()
    if request.count and (request.hash or request.columns):
        parser.error("--count delivers no rows: --hash and --columns do not go with it")
    if request.corrupt and not request.hash:
        parser.error("--corrupt needs --hash")
    return request


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def proc_figure(file, key):
    """The number after `key` in a file of /proc/self."""
    with open(f"/proc/self/{file}") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key))


def measured(request, pyarrow):
    """The figures of a run; None is what cannot be told."""
    deliver = engines.ENGINES[request.engine](request)
    figures = {"rows": 0, "batches": 0}
    read_before = proc_figure("io", "rchar")
    first = None
    started = time.perf_counter()
    delivered = deliver()
    if request.count:
        figures["rows"] = delivered
    else:
        for batch in delivered:
            if first is None:
                first = time.perf_counter() - started
            figures["rows"] += batch.num_rows
            figures["batches"] += 1
        del delivered
        batch = None
    figures["seconds"] = time.perf_counter() - started
    figures["seconds_to_first_batch"] = first
    # What went through read(2) and its kin, from the page cache too. None of these engines maps its files.
    figures["bytes_read"] = proc_figure("io", "rchar") - read_before
    in_arrow_pool = request.engine.startswith(("pyiceberg", "pyarrow"))
    figures["pool_peak_bytes"] = pyarrow.default_memory_pool().max_memory() if in_arrow_pool else None
    figures["rss_peak_bytes"] = proc_figure("status", "VmHWM") * 1024
    return figures


def main():
    request = arguments()
    import pyarrow

    pyarrow.set_cpu_count(request.threads)
    result = {"engine": request.engine, "threads": request.threads}
    try:
        if request.hash:
            import stream

            batches = iter(engines.ENGINES[request.engine](request)())
            if request.columns:  # PyIceberg delivers them in the order of the schema
                batches = (batch.select(request.columns) for batch in batches)
            batches = stream.corrupt(batches, request.corrupt) if request.corrupt else batches
            result["content_hash"], result["rows"] = stream.content_hash(os.environ.get("FRAZIL_CONTENT_HASH", HASH_LIBRARY), batches)
        else:
            order = "arrival" if request.engine in ("duckdb_unordered", "duckdb_iceberg") else "task"
            files = len(engines.data_files(request.metadata))
            result |= {**measured(request, pyarrow), "files": files, "bytes_written": 0, "allocations": None, "order": order}
    except engines.NotOffered as refusal:
        result = {"not_offered": str(refusal)}
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
