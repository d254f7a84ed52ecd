"""How fast does one batch become the files of a partitioned table, and in how much memory?

Job W: the workload of iceberg-go's write benchmark (apache/iceberg-go #622), into 30 partitions by day and host, and into
25 to 5,000 partitions of an int. Every engine makes the same rows, outside of the time, and writes them with zstd; those
that know tables commit to a SQLite catalog within it, Polars, DuckDB and pyarrow write files alone.
"""

import os

from workload import Contender, DataSet, python_of

HERE = os.path.dirname(os.path.abspath(__file__))

FLAT = 69  # bytes of a row in Arrow, about
NESTED = 200


def data_sets(size):
    """{DataSet: its cases}. `set` says how partitions are made, `files` how many there are; the case is the rows' order."""
    if size == "quick":
        return {
            DataSet("days_hosts_500k", "zstd", 500_000, 6, 30, FLAT): ("round_robin",),
            DataSet("ints_1000", "zstd", 500_000, 7, 1_000, FLAT): ("random",),
        }
    sets = {
        DataSet(f"days_hosts_{rows // 1000}k", "zstd", rows, 6, 30, FLAT): ("round_robin",)
        for rows in (100_000, 500_000, 2_500_000)
    }
    for partitions in (1, 25, 100, 250, 1_000, 5_000):
        sets[DataSet(f"ints_{partitions}", "zstd", 2_500_000, 7, partitions, FLAT)] = ("clustered", "random")
    sets[DataSet("nested", "zstd", 500_000, 9, 30, NESTED)] = ("round_robin",)
    return sets


# For the estimate: seconds to start, and M rows/s.
GUESSES = {"frazil": (0.1, 8), "polars": (1.0, 6), "duckdb": (1.2, 3), "pyarrow": (1.0, 2), "pyiceberg": (2.0, 1.5), "iceberg_go": (0.3, 2), "iceberg_rust": (0.1, 2.5)}


def contenders(data, case, threads, size, path, engines, frazil):
    """All that compete in a block. `path` is where tables are made and removed again."""
    folder = os.path.dirname(path)
    words = ["--rows", str(data.rows), "--threads", str(threads), "--folder", folder, "--order", case.replace("_", "-")]
    if data.set.startswith("ints_"):
        words += ["--partitions", str(data.files)]
    if data.set == "nested":
        words += ["--nested"]
    python = python_of(engines)
    found = []
    for engine in engines:
        name = engine["engine"]
        if "absent" in engine:
            found.append(Contender(name, "default", status="absent", reason=engine["absent"]))
            continue
        found.append(contender(name, "default", (*engine["command"], "write", "--engine", name, *words), data, python))
    ours = (*frazil, "bench", "write", *words, "--rounds", "1", "--output", "json")
    found.append(contender("frazil", "default", ours, data, python))
    if size == "full" and data.set.startswith("days_hosts"):
        found.append(contender("frazil", "synced", (*ours, "--durability", "full"), data, python))
    return tuple(found)


def contender(engine, configuration, command, data, python):
    """What it delivers is read back from its files by pyarrow, which `python` has."""
    start, rate = next((guess for name, guess in GUESSES.items() if engine.startswith(name)), (0.2, 2))
    deliver = (python, os.path.join(HERE, "deliver.py"), *command) if python else ()
    return Contender(engine, configuration, command, deliver, seconds=start + data.rows / 1e6 / rate)
