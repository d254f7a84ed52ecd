"""How many microseconds does it take to open Arrow IPC and have all its batches, and to write them?

Job I: the workload of apache/arrow#49545 (ruby/red-arrow-format/benchmark): 100 columns, uint32 and short binaries, of 10,000
rows, as file and stream, from memory, mappings, pipes and files. An operation opens a reader and takes all batches, every
array made and its buffers reachable, until the last is dropped; `seconds` is the median of many in one process.
"""

import os

from workload import Contender, DataSet, python_of

HERE = os.path.dirname(os.path.abspath(__file__))

ROW = 62  # bytes of a row of 100 columns in Arrow, times ten: 6.27 MB of 10,000 rows


def shaped(set_name, codec="none", rows=10_000, columns=100, row_bytes=None):
    return DataSet(set_name, codec, rows, columns, 1, row_bytes or columns * ROW // 10)


# -- the cases: FORMAT_from_INPUT[_WORD..], FORMAT_to_memory

WORDS = {
    "touched": ("--touch",),
    "checked": ("--validation", "full"),
    "first": ("--first-batch",),
    "column": (),  # one of 1,000; who reads is told by the words of columns()
}
PUBLISHED = ("file_from_memory", "stream_from_memory")
INPUTS = (*PUBLISHED, "file_from_mmap", "stream_from_mmap", "stream_from_pipe", "file_from_file", "stream_from_file")
TOUCHED = ("file_from_memory_touched", "stream_from_pipe_touched")
CHECKED = ("file_from_memory_checked", "stream_from_memory_checked")
WRITTEN = ("file_to_memory", "stream_to_memory")
COLUMN = ("file_from_memory_column", "file_from_mmap_column", "file_from_file_column")
QUICK_CASES = ("file_from_mmap", "stream_from_pipe", "file_from_memory_touched", "file_from_memory_checked", "stream_to_memory")
FIRST = ("file_from_file_first", "file_from_mmap_first", "stream_from_file_first", "stream_from_mmap_first")


def data_sets(size):
    """{DataSet: its cases}"""
    if size == "quick":
        return {
            shaped("columns_100"): (*PUBLISHED, *QUICK_CASES),
            shaped("columns_1", columns=1): PUBLISHED[:1],
            shaped("columns_1000", rows=1_000, columns=1_000): (PUBLISHED[0], COLUMN[1]),
            shaped("columns_4096", rows=1_000, columns=4_096): PUBLISHED[:1],
            shaped("batches_100"): PUBLISHED[1:],
            shaped("dictionary"): PUBLISHED[:1],
            shaped("views"): PUBLISHED[:1],
            shaped("few_values", "zstd"): PUBLISHED[1:],
            DataSet("small_files", "none", 16_000, 3, 1_000, 13): ("file_from_mmap",),
            DataSet("first_of_many", "none", 10_000_000, 1, 1, 4): FIRST[:1],
        }
    sets = {
        shaped("columns_100"): (*INPUTS, *TOUCHED, *CHECKED, *WRITTEN),
        shaped("columns_1", columns=1): PUBLISHED,
        shaped("columns_1000", columns=1_000): (*PUBLISHED, *COLUMN),
        shaped("columns_4096", columns=4_096): PUBLISHED,
        DataSet("small_files", "none", 160_000, 3, 10_000, 13): ("file_from_file", "file_from_mmap"),
        DataSet("first_of_many", "none", 268_000_000, 1, 1, 8): FIRST,  # as a file and as a stream
    }
    for set_name in ("batches_100", "nulls", "dictionary", "views"):
        sets[shaped(set_name)] = (*PUBLISHED, *CHECKED, *WRITTEN)
    for codec in ("lz4", "zstd"):
        sets[shaped("few_values", codec)] = sets[shaped("columns_100", codec)] = (*PUBLISHED, *WRITTEN)
    return sets


# -- the engines

QUICK_OPERATIONS, FULL_OPERATIONS = 300, 3_000
FRAZIL = {"default": (), "new schemas": ("--no-schema-cache",)}  # the second decodes the schema in each operation
NOT_OFFERED = {  # by (engine, word of the case)
    ("nanoarrow", "file"): "nanoarrow reads streams; its reader of footers is for its own tests",
}


def guess(data, case, size):
    """Seconds of a process, for the estimate: operations end after two."""
    at_once = "memory" in case or "mmap" in case
    short = at_once and data.codec == "none" and data.files == 1 and data.columns <= 100 and not case.endswith(("touched", "checked"))
    return 0.3 if short else 0.6 if size == "quick" else 2.5


def contenders(data, case, threads, size, path, engines, frazil):
    """All that compete in a block. One thread: that is how these readers work, but for compressed bodies."""
    if threads > 1 and data.codec == "none":
        return ()
    file_format, direction, place, *words = case.split("_")
    paths = {"file": path, "stream": path.removesuffix(".arrow") + ".arrows"}
    operations = str(QUICK_OPERATIONS if size == "quick" else FULL_OPERATIONS)
    seconds = guess(data, case, size)
    python = python_of(engines)
    found = []
    for engine in engines:
        name = engine["engine"]
        if "absent" in engine:
            found.append(Contender(name, "default", status="absent", reason=engine["absent"]))
        elif reason := NOT_OFFERED.get((name, file_format if direction == "from" else None)):
            found.append(Contender(name, "default", status="not_offered", reason=reason))
        else:
            options = [option for word in words for option in WORDS[word]]
            command = (*engine["command"], "read" if direction == "from" else "write", "--engine", name, "--format", file_format)
            command += ("--threads", str(threads), "--operations", operations, *options)
            if direction == "from":
                command += ("--path", paths[file_format], "--input", place)
                command += ("--column", str(data.columns // 2)) if "column" in words else ()
                found.append(Contender(name, "default", command, (*command, "--hash"), seconds=seconds))
            else:
                command += ("--path", paths["stream"], "--input", "memory")
                command += ("--codec", data.codec) if data.codec != "none" else ()
                found.append(Contender(name, "default", command, delivered(python, command), seconds=seconds))
    found += ours(data, case, threads, operations, paths, python, frazil, seconds)
    return tuple(found)


def ours(data, case, threads, operations, paths, python, frazil, seconds):
    file_format, direction, place, *words = case.split("_")
    command = ("bench", "ipc", "--operations", operations, "--threads", str(threads), "--rounds", "1", "--output", "json")
    command += tuple(option for word in words for option in WORDS[word])
    if direction == "from":
        command += ("--input", place, *(("--select", f"c{data.columns // 2}") if "column" in words else ()))
        # A folder of small files is named by a pattern.
        source = paths[file_format] if data.files == 1 else os.path.join(paths["file"], "*.arrow")
    else:
        command += ("--write", "--format", file_format, "--compression", data.codec)
        source = paths["stream"]
    found = []
    for configuration, options in FRAZIL.items() if direction == "from" else (("default", ()),):
        line = (*frazil, *command, *options, source)
        deliver = (*line, "--hash") if direction == "from" else delivered(python, line)
        found.append(Contender("frazil", configuration, line, deliver, seconds=seconds))
    return found + [debug_build(c, frazil) for c in found if c.configuration == "default"]


def debug_build(contender, frazil):
    """The same in a build without optimisation, as the public benchmark has it, if there is one beside the release build."""
    program = os.path.join(os.path.dirname(os.path.dirname(frazil[0])), "debug", os.path.basename(frazil[0]))
    if not os.path.exists(program):
        return Contender("frazil", "debug build", status="absent", reason="no build/debug/frazil: cmake --preset debug")
    replaced = lambda words: tuple(program if word == frazil[0] else word for word in words)  # noqa: E731
    return Contender("frazil", "debug build", replaced(contender.command), replaced(contender.hash_command), seconds=contender.seconds)


def delivered(python, command):
    """What a writer wrote is read back by pyarrow, which `python` has."""
    return (python, os.path.join(HERE, "deliver.py"), *command) if python else ()
