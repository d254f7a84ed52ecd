"""How fast does an engine decode each encoding of each type of a plain Parquet file?

One file a set, with one column (or a nested one), uncompressed, on one thread, so that decoding is what differs. A row
is one value; a row of a list or map holds four on average. The peers are the engines that read files without a table:
Arrow C++ (pyarrow) and arrow-rs, which are the references for each encoding, Polars and DuckDB.
"""

from workload import Contender, DataSet

# -- the data sets (made by make_data.py), each with the bytes that a row takes in Arrow, about

FLAT = {
    "plain_int32": 4,
    "plain_int64": 8,
    "plain_float": 4,
    "plain_double": 8,
    "plain_boolean": 1,
    "plain_string": 14,
    "plain_string_100": 104,
    "plain_fixed_16": 16,
    "dictionary_int64_100": 8,
    "dictionary_int64_50000": 8,
    "dictionary_string_100": 12,
    "dictionary_string_50000": 15,
    "rle_boolean": 1,
    "delta_int32_sequential": 4,
    "delta_int32_jittered": 4,
    "delta_int64_sequential": 8,
    "delta_int64_jittered": 8,
    "delta_length_string": 14,
    "delta_byte_array_string": 20,
    "split_float": 4,
    "split_double": 8,
    "split_int32": 4,
    "split_int64": 8,
    "split_fixed_2": 2,
}
WITH_NULLS = (
    "plain_int64",
    "plain_double",
    "plain_boolean",
    "plain_string",
    "plain_fixed_16",
    "dictionary_int64_50000",
    "dictionary_string_100",
    "rle_boolean",
    "delta_int64_jittered",
    "delta_length_string",
    "delta_byte_array_string",
    "split_double",
)
NESTED = {"list_int64": 36, "list_string": 60, "list_struct": 68, "struct": 30, "map_string_int64": 92}
FOUR_VALUES_A_ROW = ("list_int64", "list_string", "list_struct", "map_string_int64")

# One set a way of decoding: what `make bench` has time for.
QUICK_SETS = (
    "plain_int64",
    "plain_int64_nulls",
    "plain_string",
    "dictionary_string_100",
    "rle_boolean",
    "delta_int64_jittered",
    "delta_byte_array_string",
    "split_double",
    "list_int64",
    "list_struct",
    "struct",
    "footer_10000_columns",
)


def data_sets(size):
    """{DataSet: its cases}"""
    values = 1_000_000 if size == "quick" else 4_000_000
    sets = {}
    for name, row_bytes in FLAT.items():
        rows = values // 4 if name == "plain_string_100" else values
        sets[DataSet(name, "none", rows, 1, 1, row_bytes)] = ("all_columns",)
    for name in WITH_NULLS:
        sets[DataSet(f"{name}_nulls", "none", values, 1, 1, FLAT[name] + 1)] = ("all_columns",)
    for name, row_bytes in NESTED.items():
        rows = values // 4 if name in FOUR_VALUES_A_ROW else values
        sets[DataSet(name, "none", rows, 1, 1, row_bytes)] = ("all_columns",)
    sets[DataSet("sorted_page_index", "none", values, 2, 1, 16)] = ("all_columns", "one_percent")
    sets[DataSet("footer_10000_columns", "none", 10, 10_000, 1, 80_000)] = ("one_column",)
    return {data: cases for data, cases in sets.items() if size != "quick" or data.set in QUICK_SETS}


def case_options(case, data):
    """The words by which a runner is told what to deliver."""
    if case == "one_column":
        return ("--columns", "c5000")
    if case == "one_percent":  # ids run from 0 to rows - 1
        first = data.rows // 2
        return ("--filter", f"id >= {first} and id < {first + data.rows // 100}")
    return ()


# -- the engines: those that read files, with their defaults

ENGINES = (
    "pyarrow_128k",
    "pyarrow_16k",
    "polars_batches",
    "polars_collect",
    "duckdb_unordered",
    "duckdb_ordered",
    "arrow_rs",
    "floor_arrow",
)
QUICK = ("pyarrow_128k", "polars_batches", "duckdb_unordered", "arrow_rs", "floor_arrow")

NOT_READ = {  # by (the set, how the engine's name begins)
    ("split_fixed_2", "polars"): "Polars has no BYTE_STREAM_SPLIT of fixed-size binaries",
    ("split_fixed_2", "duckdb"): "DuckDB has BYTE_STREAM_SPLIT of numbers only",
}

# For the estimate: seconds of a process; starting takes most of it.
PYTHON_SECONDS, PROGRAM_SECONDS = 0.6, 0.1


def contenders(data, case, threads, size, path, engines, frazil):
    """All that compete in a block: none on more than one thread."""
    if threads != 1:
        return ()
    ours = (*frazil, "bench", "read", path, "--threads", "1", "--memory", "16GiB", "--rounds", "1", "--output", "json")
    names = {"--columns": "--select", "--filter": "--where"}
    ours += tuple(names.get(word, word) for word in case_options(case, data))
    found = []
    if case != "one_percent":
        found.append(Contender("floor_frazil", "default", (*ours, "--floor"), seconds=PROGRAM_SECONDS))
    for engine in engines:
        if engine["engine"] in (QUICK if size == "quick" else ENGINES):
            if engine["engine"] != "floor_arrow" or case != "one_percent":
                found.append(peer(engine, data, case, path))
    found.append(Contender("frazil", "default", ours, (*ours, "--hash"), seconds=PROGRAM_SECONDS))
    return tuple(found)


def peer(engine, data, case, path):
    name = engine["engine"]
    if "absent" in engine:
        return Contender(name, "default", status="absent", reason=engine["absent"])
    reason = NOT_READ.get((data.set, name.split("_")[0]))
    if reason:
        return Contender(name, "default", status="not_offered", reason=reason)
    words = f"read --engine {name} --threads 1 --metadata".split()
    command = (*engine["command"], *words, path, *case_options(case, data))
    if name == "floor_arrow":
        return Contender(name, "default", command, seconds=PROGRAM_SECONDS)
    seconds = PROGRAM_SECONDS if name == "arrow_rs" else PYTHON_SECONDS
    return Contender(name, "default", command, (*command, "--hash"), seconds=seconds)
