"""The gold files of arrow-testing: Frazil reads what the JSON beside them states, and others read what it writes of them.

Usage: gold.py INTEGRATION_PROGRAM REWRITE_PROGRAM

Of each triple (JSON, file, stream) both are held against the JSON value by value, with the metadata of schema and fields
(frazil_ipc_integration). Each is written anew as file and stream, plain and compressed, aligned to 8 and 64; what was
written is held against the JSON again, and pyarrow must find in it what it finds in the original: values, metadata of
schema, fields and batches. Without pyarrow that last part is said to be missing. Prints a line a file and fails if a file
is missing.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import pyarrow as pa
except ImportError as error:
    pa = None
    print(f"no pyarrow here, what Frazil writes is read by Frazil alone: {error}")

GOLD = pathlib.Path("tests/corpora/arrow-testing/data/arrow-ipc-stream/integration")
# Who wrote how many triples.
TRIPLES = {"0.14.1": 9, "0.17.1": 1, "1.0.0-bigendian": 22, "1.0.0-littleendian": 22, "2.0.0-compression": 4,
           "4.0.0-shareddict": 1, "cpp-21.0.0": 32}
TARGETS = ["file:none:8:default", "file:zstd:64:delta", "stream:none:64:default", "stream:lz4:8:unify"]


def run(*command):
    """(whether it succeeded, what it said)"""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    said = (done.stdout + done.stderr).strip()
    return done.returncode == 0, said if done.returncode >= 0 else f"signal {-done.returncode}: {said}"


def contents(path):
    """(schema, [(batch, its metadata)...], metadata of a file's footer) as pyarrow reads them."""
    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    if is_file:
        with pa.ipc.open_file(path) as reader:
            batches = [reader.get_batch_with_custom_metadata(i) for i in range(reader.num_record_batches)]
            return reader.schema, batches, reader.metadata or {}
    with pa.ipc.open_stream(path) as reader:
        return reader.schema, list(reader.iter_batches_with_custom_metadata()), None


def is_valid(batch):
    """Some of the gold files' decimals have more digits than their type, some date64 are no whole days."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def same_batch(left, right):
    """Dictionaries may be cut in other ways: then the values count."""
    return left.equals(right, check_metadata=True) or (left.schema.equals(right.schema, check_metadata=True)
                                                       and left.to_pylist() == right.to_pylist())


def pyarrow_difference(original, written):
    schema, batches, footer = original
    try:
        found_schema, found, found_footer = contents(written)
    except pa.ArrowException as error:
        return f"pyarrow does not read it: {str(error).splitlines()[0]}"
    if not schema.equals(found_schema, check_metadata=True):
        return f"pyarrow finds the schema {found_schema.to_string()}"
    if len(batches) != len(found):
        return f"pyarrow finds {len(found)} batches"
    if footer is not None and found_footer is not None and footer != found_footer:
        return f"pyarrow finds metadata {found_footer} in the footer, not {footer}"
    for index, ((batch, metadata), (found_batch, found_metadata)) in enumerate(zip(batches, found)):
        if is_valid(batch) and not is_valid(found_batch):
            return f"pyarrow calls batch {index} invalid"
        if not same_batch(batch, found_batch):
            return f"pyarrow finds another batch {index}: {found_batch.to_pylist()}"
        if (metadata or {}) != (found_metadata or {}):
            return f"pyarrow finds metadata {found_metadata} of batch {index}, not {metadata}"
    return None


def check(programs, stated, path, folder):
    """What is wrong with one file, as texts; and what can be told of it."""
    integration, rewrite = programs
    good, said = run(integration, "--mode", "VALIDATE", "--json", stated, "--arrow", path)
    if not good:
        return [said], ""
    told = said.rpartition(": ")[2]
    outs = [folder / f"{index}.arrow" for index in range(len(TARGETS))]
    good, said = run(rewrite, path, *[f"{target}:{out}" for target, out in zip(TARGETS, outs)])
    if not good:
        return [f"not written: {said}"], told
    words = [word for out in outs for word in ("--arrow", out)]
    good, said = run(integration, "--mode", "VALIDATE", "--json", stated, *words)
    if not good:
        return [f"as written ({', '.join(TARGETS)}): {said}"], told
    if pa is None:
        return [], told
    try:
        original = contents(path)
    except pa.ArrowException as error:
        return [], f"{told}; rewritten; pyarrow does not read it: {str(error).splitlines()[0]}"
    wrong = [(target, pyarrow_difference(original, out)) for target, out in zip(TARGETS, outs)]
    return [f"{target}: {text}" for target, text in wrong if text], f"{told}; rewritten {len(outs)} times, read by pyarrow"


def check_metadata(rewrite, folder):
    """What is wrong with metadata of batches and footers, which no gold file has, as texts."""
    batch = pa.record_batch({"a": [1, 2]}, schema=pa.schema([pa.field("a", pa.int64(), metadata={"of": "a field"})],
                                                            metadata={"of": "the schema"}))
    source = folder / "metadata.arrow"
    wrong = []
    for maker, more in ((pa.ipc.new_file, {"metadata": {b"of": b"the footer", b"empty": b""}}), (pa.ipc.new_stream, {})):
        with maker(source, batch.schema, **more) as writer:
            writer.write_batch(batch, custom_metadata={"of": "a batch", "n": "1"})
            writer.write_batch(batch)
            writer.write_batch(batch.slice(1), custom_metadata={"": ""})
        outs = [folder / f"{index}.arrow" for index in range(len(TARGETS))]
        good, said = run(rewrite, source, *[f"{target}:{out}" for target, out in zip(TARGETS, outs)])
        if not good:
            return [f"not written: {said}"]
        wrong += [f"{maker.__name__}, {target}: {text}" for target, out in zip(TARGETS, outs)
                  if (text := pyarrow_difference(contents(source), out))]
    return wrong


def main():
    programs = [os.path.abspath(program) for program in sys.argv[1:3]]
    failures, counts = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for stated in sorted(GOLD.rglob("*.json.gz")):
            name = f"{stated.parent.name}/{stated.name.removesuffix('.json.gz')}"
            counts[stated.parent.name] = counts.get(stated.parent.name, 0) + 1
            for kind in ("arrow_file", "stream"):
                path = stated.parent / f"{stated.name.removesuffix('.json.gz')}.{kind}"
                wrong, told = check(programs, stated, path, pathlib.Path(folder))
                print(f"{name}.{kind}: {'; '.join(['FAILED', *wrong]) if wrong else told}", flush=True)
                failures += bool(wrong)
        if pa is not None:
            wrong = check_metadata(programs[1], pathlib.Path(folder))
            print(f"metadata of batches and footer: {'; '.join(['FAILED', *wrong]) if wrong else 'read by pyarrow'}")
            failures += bool(wrong)
    if counts != TRIPLES:
        print(f"found {counts} triples, there should be {TRIPLES}")
        failures += 1
    print(f"{sum(counts.values())} triples, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
