"""Every Parquet file of the corpora, read by frazil_parquet_dump, against the answer that is stated for it.

Usage: corpus.py DUMP_PROGRAM [PATH...]            a path: below tests/corpora
       corpus.py --update DUMP_PROGRAM [PATH...]   also makes entries for files that have none, with other readers

A line a file: outcome, path, rows, what its values were compared with, and why where that needs a reason. Outcomes:
`same`; `error`, an error that is the right answer; `rows or error` for inputs of fuzzers. All else fails: other values,
an error where two of three foreign readers read the file, a file without entry in corpus.json, an entry without file,
more than 256 MiB or 5 s of processor time, other rows in small batches.

An entry of corpus.json says how many rows there are and what is compared:
  csv, hyparquet, duckdb   the statements that came with the corpora, all that there are; "differs" names those that
                           are wrong or less precise, whole or in a column, with the reason
  stated                   values that a text beside the file states
  twin                     the same values in another file, PLAIN-encoded
  variants                 columns that are read here, and compared by variant_shredding_test.cc
  hash                     of the rows, by two other implementations, "by", that agreed when the entry was made
or {"error": why}. "reason" explains a choice where foreign readers disagree.
"""
import contextlib
import csv
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import values

HERE = os.path.dirname(os.path.abspath(__file__))
CORPORA = os.path.join(os.path.dirname(HERE), "corpora")
TABLE = os.path.join(HERE, "corpus.json")
FOLDERS = ["parquet-testing", "parquet-extra", "arrow-testing/data/parquet"]
READERS = ("duckdb", "hyparquet", "parquet_rs")
VARIANT_TEST = "src/frazil/parquet/variant_shredding_test.cc"
MEMORY_BYTES = 256 << 20
CPU_SECONDS = 5


def is_fuzz(path):
    return "/fuzzing/" in path


def find_files():
    for folder in FOLDERS:
        for parent, _, names in os.walk(os.path.join(CORPORA, folder)):
            for name in names:
                path = os.path.join(parent, name)
                with open(path, "rb") as file:
                    magic = file.read(4) in (b"PAR1", b"PARE")
                relative = os.path.relpath(path, CORPORA)
                if magic or is_fuzz(relative) or name.lower().endswith((".parquet", ".encrypted")):
                    yield relative


def run(program, path, options):
    """Lines of the program, and the processor time and memory that it took."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program, *options, os.path.join(CORPORA, path)], stdout=out, stderr=errors)
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (60, 60))  # an endless loop ends
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        return process.returncode, out.read(), errors.read(), usage


def read(program, path, *options):
    code, out, errors, usage = run(program, path, ["--budget", str(MEMORY_BYTES), "--utf8", *options])
    if code != 0:
        return {"failure": f"exit status {code}: {errors.decode(errors='replace')[-1000:]}"}
    result = {"columns": [], "rows": [], "error": None, "peak": 0,
              "seconds": usage.ru_utime + usage.ru_stime, "resident": usage.ru_maxrss << 10}
    for line in map(json.loads, filter(None, out.split(b"\n")[1:])):
        if isinstance(line, list):
            result["rows"].append(line)
        elif "columns" in line:
            result.update(line)
        elif "error" in line:
            result["error"] = line["error"]
        else:
            result["count"], result["peak"] = line["rows"], line["peak"]
    return result


def in_one_form(columns, rows, origin):
    return [[values.one_form(tree, value, origin) for (_, tree), value in zip(columns, row)] for row in rows]


def read_json(path):
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        return json.load(file)


def statements(path):
    """What is stated of a file: (name, what was found there)."""
    whole = os.path.join(CORPORA, path)
    for expected in (whole.removesuffix(".parquet") + "_expect.csv", whole.removesuffix(".parquet") + ".csv"):
        if os.path.exists(expected):
            with open(expected, newline="") as file:
                separator = "|" if "|" in file.readline() else ","
                file.seek(0)
                yield "csv", [row for row in csv.reader(file, delimiter=separator) if row]
    name = os.path.basename(whole).removesuffix(".parquet")
    expected = os.path.join(CORPORA, "parquet-extra/hyparquet", name + ".json")
    if "/hyparquet/" in path or path.startswith("parquet-testing/data"):
        if os.path.exists(expected):
            yield "hyparquet", read_json(expected)
    expected = os.path.join(CORPORA, "expected/parquet-duckdb", path + ".json.gz")
    if os.path.exists(expected):
        yield "duckdb", read_json(expected)


def is_variant(tree):
    names = {field[0] for field in tree[1:]} if tree[0] == "struct" else set()
    return "metadata" in names and len(names) > 1 and names <= {"metadata", "value", "typed_value"}


def stated_rows(name, stated, columns):
    """Rows of a statement as lists in the order of `columns`; None where it is of another shape."""
    names = [column for column, _ in columns]
    if name == "csv":
        header = stated[0][0].strip() == names[0].strip(" :")
        return [[None if cell in ("", "NULL") else cell for cell in row] for row in stated[header:]]
    if name in ("hyparquet", "stated"):
        return stated
    return [values.fields_of(row, names) for row in stated["rows"]]


def compare_with(name, stated, ours, skip):
    """A difference, or None. Columns of `skip` are left out."""
    columns = ours["columns"]
    rows = stated_rows(name, stated, columns)
    keep = [i for i, (column, _) in enumerate(columns) if column not in skip]
    chosen = [columns[i] for i in keep]
    if any(len(row) != len(columns) for row in rows):
        return f"{name} states {len(rows[0])} columns, not {len(columns)}"
    try:
        theirs = in_one_form(chosen, [[row[i] for i in keep] for row in rows], name)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        return f"{name} states what is no value of the type: {error!r}"
    mine = in_one_form(chosen, [[row[i] for i in keep] for row in ours["rows"]], "frazil")
    return values.difference(chosen, mine, theirs, name)


def compare_twin(program, path, twin, ours):
    other = read(program, twin)
    if other.get("failure") or other["error"]:
        return f"the twin {twin} cannot be read"
    mine, theirs = (in_one_form(side["columns"], side["rows"], "frazil") for side in (ours, other))
    return values.difference(ours["columns"], mine, theirs, "frazil")


def limits(result, sanitized):
    if result["seconds"] > CPU_SECONDS and not sanitized:
        return f"{result['seconds']:.1f} s of processor time"
    if result["peak"] > MEMORY_BYTES or (result["resident"] > MEMORY_BYTES and not sanitized):
        return f"{result['peak'] >> 20} MiB of the pool, {result['resident'] >> 20} MiB resident"
    return None


def right_error(path, ours, outcome):
    """Why an error is right by the rule of the corpora, or None."""
    read_by = [reader for reader in READERS if "rows" in outcome.get(reader, {})]
    if len(read_by) <= 1 and outcome:
        return "no other reader reads it" if not read_by else f"of three readers only {read_by[0]} reads it"
    text = ours["error"].lower()
    if "encrypt" in text and (path.endswith(".encrypted") or "/encryption/" in path or "crypto" in path):
        return "encrypted"
    if "lzo" in text:
        return "LZO"
    if "/bad_data/" in path or path.endswith("large_string_map.brotli.parquet"):
        return "listed as bad or as too large"
    return None


def disagree(outcome):
    return len({outcome.get(reader, {}).get("rows") for reader in READERS}) > 1


def check(program, path, entry, outcome, sanitized):
    """(outcome, rows, what was compared with, reason); the outcome FAIL with a text."""
    ours = read(program, path)
    problem = ours.get("failure") or limits(ours, sanitized)
    if problem:
        return "FAIL", 0, "", problem
    if is_fuzz(path):
        return "rows or error", len(ours["rows"]), "", ours["error"] or ""
    if entry is None:
        return "FAIL", ours.get("count", 0), "", "no entry in corpus.json"
    if ours["error"] is not None or "error" in entry:
        return check_error(path, entry, ours, outcome)
    if disagree(outcome) and "reason" not in entry:
        return "FAIL", ours["count"], "", "readers disagree, and corpus.json gives no reason for the choice"
    small = read(program, path, "--batch-rows", "7", "--batch-bytes", "300")
    if small.get("rows") != ours["rows"]:
        return "FAIL", ours["count"], "", f"small batches give other rows: {small.get('failure') or small['error']}"
    if ours["count"] != entry["rows"]:
        return "FAIL", ours["count"], "", f"{entry['rows']} rows expected"
    problem, compared = compare(program, path, entry, ours)
    return ("FAIL" if problem else "same"), ours["count"], compared, problem or notes(entry)


def try_check(program, path, *rest):
    try:
        return check(program, path, *rest)
    except Exception as error:  # one file must not end the table
        return "FAIL", 0, "", repr(error)


def notes(entry):
    texts = [entry.get("reason")] + [f"not {name}: {why}" for name, why in entry.get("differs", {}).items()]
    return "; ".join(filter(None, texts))


def check_error(path, entry, ours, outcome):
    if ours["error"] is None:
        return "FAIL", ours["count"], "", f"read, but corpus.json expects an error: {entry['error']}"
    why = right_error(path, ours, outcome)
    if "error" not in entry or why is None:
        return "FAIL", 0, "", "error: " + ours["error"]
    return "error", 0, why, f"{entry['error']} [{ours['error'][:160]}]"


def compare(program, path, entry, ours):
    """(a difference or None, what was compared with)."""
    done = []
    differs = entry.get("differs", {})
    variants = [column for column, tree in ours["columns"] if is_variant(tree)]
    if variants != entry.get("variants", []):
        return f"variants are {variants}", ""
    stated_here = [("stated", entry["stated"])] if "stated" in entry else []
    for name, stated in [*statements(path), *stated_here]:
        if name in differs or len(variants) == len(ours["columns"]):
            continue
        left_out = [key.partition(":")[2] for key in differs if key.startswith(name + ":")]
        problem = compare_with(name, stated, ours, variants + left_out)
        if problem:
            return f"{name}: {problem}", ""
        done.append(name)
    if variants:
        done.append(f"variants: {VARIANT_TEST}")
    if "twin" in entry:
        problem = compare_twin(program, path, entry["twin"], ours)
        if problem:
            return f"twin: {problem}", ""
        done.append("twin")
    if "hash" in entry:
        if values.digest(in_one_form(ours["columns"], ours["rows"], "frazil")) != entry["hash"]:
            return f"other values than {entry['by']} read", ""
        done.append(" = ".join(entry["by"]))
    if not done and entry["rows"] and ours["columns"]:
        return "nothing to compare the values with", ""
    return None, ", ".join(done) or "no values"


def foreign_tables(path):
    """(name and version, Arrow table) of each reader that reads the file."""
    import duckdb
    import polars
    import pyarrow.parquet
    whole = os.path.join(CORPORA, path)
    readers = [
        ("pyarrow " + pyarrow.__version__, lambda: pyarrow.parquet.ParquetFile(whole).read(use_threads=False)),
        ("duckdb " + duckdb.__version__, lambda: duckdb.sql(f"FROM read_parquet('{whole}', hive_partitioning = false)")
         .to_arrow_table()),
        ("polars " + polars.__version__, lambda: polars.read_parquet(whole, hive_partitioning=False).to_arrow()),
    ]
    for name, reader in readers:
        try:
            yield name, reader()
        except BaseException as error:  # Polars panics
            yield name, str(error).split("\n")[0][:100]


def python_rows(table, columns):
    """Cells of an Arrow table in the one form."""
    import pyarrow
    cells = []
    for array, (_, tree) in zip(table.columns, columns):
        kind = array.type
        if pyarrow.types.is_timestamp(kind) and str(tree).startswith("timestamp"):
            unit = values.NANOS[kind.unit]
            numbers = array.cast(pyarrow.int64()).to_pylist()
            cells.append([number if number is None else number * unit for number in numbers])
        else:
            cells.append([values.one_form(tree, value, "python") for value in array.to_pylist()])
    return [list(row) for row in zip(*cells)]


def make_entry(program, path, outcome):
    ours = read(program, path)
    if ours.get("failure"):
        return None
    if ours["error"]:
        why = right_error(path, ours, outcome)
        return {"error": f"TODO {why}"} if why else None
    entry = {"rows": ours["count"]}
    if "/iceberg-java-encodings/" in path and "/PLAIN/" not in path:
        twin = os.path.join("parquet-extra/iceberg-java-encodings/PLAIN", os.path.basename(path))
        if os.path.exists(os.path.join(CORPORA, twin)):
            entry["twin"] = twin
    if disagree(outcome):
        entry["reason"] = "TODO"
    variants = [column for column, tree in ours["columns"] if is_variant(tree)]
    if variants:
        entry["variants"] = variants
    elif "twin" not in entry and not list(statements(path)) and ours["count"]:
        mine = in_one_form(ours["columns"], ours["rows"], "frazil")
        entry["by"] = []
        for name, table in foreign_tables(path):
            try:
                problem = table if isinstance(table, str) else values.difference(
                    ours["columns"], mine, python_rows(table, ours["columns"]), "python")
            except Exception as error:
                problem = repr(error)
            if problem is None:
                entry["by"].append(name)
            else:
                print(f"  {path}: {name}: {problem}")
        entry["hash"] = values.digest(mine)
        if len(entry["by"]) < 2:
            print(f"NO TWO READERS {path}: {entry['by']}")
    return entry


def write_table(entries):
    lines = [f" {json.dumps(path)}: {json.dumps(entries[path])}" for path in sorted(entries)]
    with open(TABLE, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    arguments = sys.argv[1:]
    update = arguments[:1] == ["--update"]
    arguments = arguments[update:]
    if not arguments:
        sys.exit(__doc__)
    program = arguments[0]
    files = arguments[1:] or sorted(find_files())
    outcomes = read_json(os.path.join(CORPORA, "expected/parquet-outcomes.json"))
    entries = read_json(TABLE) if os.path.exists(TABLE) else {}
    if update:
        for path in files:
            if path not in entries and not is_fuzz(path):
                entry = make_entry(program, path, outcomes.get(path, {}))
                if entry is not None:
                    entries[path] = entry
        write_table(entries)
    with open(program, "rb") as file:
        sanitized = b"__asan_init" in file.read()
    counts = {}
    with ThreadPoolExecutor(2) as pool:
        results = [pool.submit(try_check, program, path, entries.get(path), outcomes.get(path, {}), sanitized)
                   for path in files]
        for path, result in zip(files, results):
            outcome, rows, compared, reason = result.result()
            counts[outcome] = counts.get(outcome, 0) + 1
            print(f"{outcome:6} {path} | {rows} rows | {compared} | {reason}", flush=True)
    for path in set() if arguments[1:] else sorted(set(entries) - set(files)):
        counts["FAIL"] = counts.get("FAIL", 0) + 1
        print(f"FAIL   {path} | 0 rows | | in corpus.json, but there is no such file")
    print(f"{len(files)} files: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    sys.exit(1 if counts.get("FAIL") else 0)


if __name__ == "__main__":
    main()
