"""How fast does an engine stream an Iceberg table into Arrow batches, and in how much memory?

Job R: the workload of PyIceberg's read benchmark (apache/iceberg-python #3045), PyIceberg's own files. Sets named own_*
hold the same rows twice, in PyIceberg's files and in Frazil's; all engines read both (own.py sums up).
"""

import os

from workload import Contender, DataSet

MIB = 1 << 20
CODECS = ("zstd", "snappy", "none")
OWN = "own_"
OWN_FILES = "own files"  # the configuration that reads Frazil's

# -- the data sets (made by make_data.py) and the cases that are run on each


def data_sets(size):
    """{DataSet: its cases}"""
    if size == "quick":
        return {
            DataSet("foreign", "zstd", 2_000_000, 5, 8, 38): ("all_columns", "two_columns", "one_percent", "count"),
            DataSet("foreign", "none", 2_000_000, 5, 8, 38): ("all_columns",),
            DataSet("random", "zstd", 2_000_000, 5, 8, 37): ("all_columns",),
            DataSet("random", "none", 2_000_000, 5, 8, 37): ("all_columns",),
        }
    sets = {}
    for codec in CODECS:
        more = ("two_columns", "one_percent", "count") if codec == "zstd" else ()
        sets[DataSet("foreign", codec, 16_000_000, 5, 32, 38)] = ("all_columns", *more)
        sets[DataSet("random", codec, 16_000_000, 5, 32, 37)] = ("all_columns", *more)
        sets[DataSet("random_nulls", codec, 16_000_000, 5, 32, 36)] = ("all_columns",)
    sets[DataSet("wide", "zstd", 100_000, 1000, 10, 6_300)] = ("all_columns", "two_columns")
    sets[DataSet("small_files", "zstd", 5_000_000, 5, 5_000, 38)] = ("all_columns", "count")
    for codec in ("zstd", "none"):
        sets[DataSet("strings_5", codec, 16_000_000, 2, 32, 17)] = ("all_columns",)
        sets[DataSet("strings_50", codec, 4_000_000, 2, 32, 62)] = ("all_columns",)
        sets[DataSet("strings_500", codec, 800_000, 2, 32, 512)] = ("all_columns",)
    for name in ("foreign", "random", "random_nulls"):
        sets[DataSet(f"{OWN}{name}", "zstd", 16_000_000, 5, 32, 38)] = ("all_columns",)
    return sets


def case_options(case, data):
    """The words by which a runner is told what to deliver."""
    if case == "two_columns":
        return ("--columns", "c500,c502" if data.set == "wide" else "id,label")
    if case == "one_percent":  # ids run from 0 to rows - 1, file after file
        first = data.rows // 2
        return ("--filter", f"id >= {first} and id < {first + data.rows // 100}")
    return ("--count",) if case == "count" else ()


# -- the configurations of each engine

BUDGETS_MIB = (16, 32, 64, 256)
FILES_AT_ONCE = (1, 2, 4, 8, 16)
UNBOUNDED = "16GiB"
FRAZIL = {
    "default": ("--memory", UNBOUNDED, "--order", "task"),
    "sequential": ("--memory", UNBOUNDED, "--order", "sequential"),
    **{
        f"{budget}MiB {order}": ("--memory", f"{budget}MiB", "--order", order)
        for order in ("task", "arrival")
        for budget in BUDGETS_MIB
    },
}
FRAZIL_KEY = ("default", "sequential", "16MiB task", "64MiB task", "64MiB arrival")
NO_FILES_KNOB = "a scan takes a byte budget and chooses the number of files itself"

# Engines that are not listed, and all in quick runs and the lesser cases, run only with the defaults of their API.
PEERS = {
    "pyiceberg_reader": {"default": (), **{f"concurrent {n}": ("--concurrency", str(n)) for n in (4, 16)}},
    "pyarrow_128k": {"default": (), **{f"concurrent {n}": ("--concurrency", str(n)) for n in (4, 16)}},
    "iceberg_go": {"default": (), **{f"concurrent {n}": ("--concurrency", str(n)) for n in (4, 16)}},
    "iceberg_rust": {"default": (), **{f"concurrent {n}": ("--concurrency", str(n)) for n in (4, 16)}},
    "polars_batches": {"default": (), "concurrent 4": ("--concurrency", "4")},
    "duckdb_unordered": {"default": (), "concurrent 4": ("--concurrency", "4")},
}

# In quick runs each peer has one engine for tables and one for files, the one that is usually the fastest.
NOT_QUICK = ("pyiceberg_table", "pyarrow_16k", "duckdb_ordered", "polars_collect")

# For the estimate: seconds to start, and MB/s of Arrow data on one thread (foreign, zstd; 2 cores of an AMD EPYC).
GUESSES = {
    "frazil": (0.02, 900),
    "floor_frazil": (0.02, 1000),
    "floor_arrow": (0.05, 1000),
    "polars": (0.5, 750),
    "pyarrow": (0.6, 600),
    "pyiceberg": (1.3, 450),
    "duckdb": (0.6, 250),
    "iceberg_rust": (0.02, 650),
    "iceberg_go": (0.05, 250),
}
CASE_SHARE = {"two_columns": 0.5, "one_percent": 0.4, "count": 0.1}


def contenders(data, case, threads, size, metadata, engines, frazil):
    """All that compete in a block. `engines` is what peers/build.py gave, `frazil` our program's command."""
    if data.set.startswith(OWN):
        return own_contenders(data, case, threads, metadata, engines, frazil)
    ours = (*frazil, "bench", "read", metadata, "--threads", str(threads), "--rounds", "1", "--output", "json")
    found = []
    if case in ("all_columns", "two_columns"):
        command = (*ours, "--floor", *frazil_words(case, data))
        found.append(contender("floor_frazil", "default", command, (), data, case, threads))
    for engine in engines:
        if engine["engine"] == "floor_arrow" and case not in ("all_columns", "two_columns"):
            continue
        if size == "quick" and engine["engine"] in NOT_QUICK:
            continue
        if "absent" in engine or size == "quick" or case != "all_columns":
            configurations = {"default": ()}
        else:
            configurations = PEERS.get(engine["engine"], {"default": ()})
        for configuration, options in configurations.items():
            found.append(peer(engine, configuration, options, data, case, threads, metadata))
    principal = size == "full" and case == "all_columns" and data.set in ("foreign", "random", "random_nulls")
    for configuration, options in FRAZIL.items():
        if not principal and configuration not in FRAZIL_KEY:
            continue
        command = (*ours, *options, *frazil_words(case, data))
        # What is counted has no values; the number of rows is compared.
        hash_command = command if case == "count" else (*command, "--hash")
        found.append(contender("frazil", configuration, command, hash_command, data, case, threads))
    if principal:
        for n in FILES_AT_ONCE:
            found.append(Contender("frazil", f"concurrent {n}", status="not_offered", reason=NO_FILES_KNOB))
    return tuple(found)


def own_contenders(data, case, threads, metadata, engines, frazil):
    """Every engine with its defaults on PyIceberg's files, and on Frazil's of the same rows, which lie beside them."""
    found = []
    for configuration, path in (("default", metadata), (OWN_FILES, own_metadata(metadata))):
        for engine in engines:
            if engine["engine"] != "floor_arrow":
                found.append(peer(engine, configuration, (), data, case, threads, path))
        ours = (*frazil, "bench", "read", path, "--threads", str(threads), "--rounds", "1", "--output", "json", *FRAZIL["default"])
        found.append(contender("frazil", configuration, ours, (*ours, "--hash"), data, case, threads))
    return tuple(found)


def own_metadata(metadata):
    """Of Frazil's table, where make_data.py lays it: beside PyIceberg's, whose metadata file is given."""
    tables = os.path.dirname(os.path.dirname(os.path.dirname(metadata)))
    return os.path.join(tables, "own", "metadata", "newest.metadata.json")


def frazil_words(case, data):
    names = {"--columns": "--select", "--filter": "--where"}
    return tuple(names.get(word, word) for word in case_options(case, data))


def peer(engine, configuration, options, data, case, threads, metadata):
    name = engine["engine"]
    if "absent" in engine:
        return Contender(name, configuration, status="absent", reason=engine["absent"])
    words = f"read --engine {name} --threads {threads} --metadata".split()
    command = (*engine["command"], *words, metadata, *case_options(case, data), *options)
    if name == "floor_arrow":
        hash_command = ()
    elif case == "count":
        hash_command = command  # there are no values; the number of rows is compared
    else:
        hash_command = (*command, "--hash")
    return contender(name, configuration, command, hash_command, data, case, threads)


def contender(engine, configuration, command, hash_command, data, case, threads):
    start, rate = next((guess for name, guess in GUESSES.items() if engine.startswith(name)), (1.0, 250))
    speed = rate if configuration == "sequential" else rate * (1 + 0.8 * (threads - 1))
    seconds = start + data.arrow_bytes / 1e6 / speed * CASE_SHARE.get(case, 1)
    return Contender(engine, configuration, command, hash_command, seconds=seconds)
