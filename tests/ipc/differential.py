"""Random batches of every type of pyarrow's: Frazil reads what pyarrow wrote, pyarrow reads what Frazil wrote.

Usage: differential.py LIBRARY [SEED ...]        (the MODULE frazil_ipc_library; exits with 77 if pyarrow or Polars is missing)

Each seed makes one schema and its batches (random_tables.py). pyarrow writes them with random options as stream or file
(versions, legacy framing, codecs, dictionaries replaced, grown or unified), and Frazil reads them in each way that it has:
by reads, mapped, from a source without an end, pushed in pieces. Frazil writes them with random options, and pyarrow reads
them. Batches go from library to library by the C stream interface, so that each direction is checked by itself. The same
both ways with Polars, whose reader and writer are not Arrow C++'s, for the types that it has. Without seeds: those of
../seeds.py. A failure prints its seed and keeps the file.
"""
import ctypes
import os
import pathlib
import random
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import seeds  # noqa: E402

try:
    import polars
    import pyarrow as pa
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import what is compared with: {error}")
    sys.exit(77)

import random_tables  # noqa: E402

CODECS = {"none": 0, "zstd": 6, "lz4": 8}  # by their number in Codec


class Stream(ctypes.Structure):
    _fields_ = [("fields", ctypes.c_void_p * 5)]


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.frazil_last_error.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            raise RuntimeError(self.library.frazil_last_error().decode())

    def read(self, path, way, seed):
        """(schema, batches)"""
        stream = Stream()
        self.call("frazil_read", path.encode(), way.encode(), ctypes.c_uint64(seed), ctypes.byref(stream))
        reader = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream))
        return reader.schema, list(reader)

    def write(self, schema, batches, path, is_file, codec, alignment, dictionaries, savings, version4):
        stream = Stream()
        pa.RecordBatchReader.from_batches(schema, batches)._export_to_c(ctypes.addressof(stream))
        self.call("frazil_write", ctypes.byref(stream), path.encode(), int(is_file), CODECS[codec], alignment, dictionaries,
                  savings, int(version4))


def pyarrow_read(path):
    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    if is_file:
        with pa.ipc.open_file(path) as reader:
            return reader.schema, [reader.get_batch(i) for i in range(reader.num_record_batches)]
    with pa.ipc.open_stream(path) as reader:
        return reader.schema, list(reader)


def pyarrow_write(rng, schema, batches, path, is_file):
    """None, or why pyarrow does not write them so. What it can read itself alone counts."""
    version = rng.choice([pa.ipc.MetadataVersion.V5] * 4 + [pa.ipc.MetadataVersion.V4])
    # pyarrow 26 compresses under V4 too, but does not say so: it cannot read that itself.
    codec = rng.choice([None, None, "lz4", "zstd"]) if version == pa.ipc.MetadataVersion.V5 else None
    options = pa.ipc.IpcWriteOptions(
        metadata_version=version, allow_64bit=True, compression=codec, emit_dictionary_deltas=rng.random() < 0.5,
        unify_dictionaries=is_file and rng.random() < 0.5,
        use_legacy_format=version == pa.ipc.MetadataVersion.V4 and rng.random() < 0.5)
    try:
        with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(path, schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return random_tables.difference(schema, batches, *pyarrow_read(path))
    except pa.ArrowException as error:
        return str(error).splitlines()[0]


def check_reads(library, seed, rng, schema, batches, path):
    """How many files were read."""
    count = 0
    for is_file in (False, True):
        refusal = pyarrow_write(rng, schema, batches, path, is_file)
        if refusal:
            continue
        for way in ("reads", "mapped", "source") if is_file else ("reads", "mapped", "source", "push"):
            found = library.read(path, way, seed)
            difference = random_tables.difference(schema, batches, *found)
            if difference:
                raise AssertionError(f"read ({way}) of a {'file' if is_file else 'stream'} of pyarrow: {difference}")
        count += 1
    return count


def check_writes(library, rng, schema, batches, path):
    for is_file in (False, True):
        options = {"codec": rng.choice(list(CODECS)), "alignment": rng.choice([8, 64]),
                   "dictionaries": rng.choice([-1, 1, 2] if is_file else [-1, 0, 1, 2]), "savings": rng.choice([0, 20])}
        options["version4"] = options["codec"] == "none" and rng.random() < 0.3
        library.write(schema, batches, path, is_file, **options)
        difference = random_tables.difference(schema, batches, *pyarrow_read(path))
        if difference:
            raise AssertionError(f"a {'file' if is_file else 'stream'} written with {options}: {difference}")


def polars_difference(what, wanted, found):
    if wanted.schema != found.schema or not wanted.equals(found):
        raise AssertionError(f"{what}: {found.schema} {found.rows()}\ninstead of {wanted.schema} {wanted.rows()}")


def check_polars(library, seed, rng, path):
    table = random_tables.make_polars_table(rng)
    frame = polars.from_arrow(table)
    for is_file in (False, True):
        kind = "file" if is_file else "stream"
        options = {"compression": rng.choice(["uncompressed", "lz4", "zstd"]),
                   "compat_level": rng.choice([polars.CompatLevel.oldest(), polars.CompatLevel.newest()])}
        (frame.write_ipc if is_file else frame.write_ipc_stream)(path, **options)
        schema, batches = library.read(path, rng.choice(["reads", "mapped", "source"]), seed)
        polars_difference(f"read of a {kind} of Polars", frame, polars.from_arrow(pa.Table.from_batches(batches, schema)))
        codec = rng.choice(list(CODECS))
        library.write(table.schema, table.to_batches(), path, is_file, codec, rng.choice([8, 64]), -1, 0, False)
        try:
            read = polars.read_ipc(path) if is_file else polars.read_ipc_stream(path)
        except polars.exceptions.PanicException:
            # Polars 2.1 panics on a buffer without bytes of a view in a compressed body, whoever wrote it.
            if codec == "none" or "_view" not in str(table.schema):
                raise
            continue
        polars_difference(f"a {kind} with {codec}, read by Polars", frame, read)


def check(library, seed, folder):
    rng = random.Random(seed)
    schema, batches = random_tables.make_batches(rng)
    for batch in batches:
        batch.validate(full=True)
    path = os.path.join(folder, "batches.arrow")
    count = check_reads(library, seed, rng, schema, batches, path)
    check_writes(library, rng, schema, batches, path)
    check_polars(library, seed, rng, path)
    return count


def main():
    library = Library(os.path.abspath(sys.argv[1]))
    print(f"pyarrow {pa.__version__}, Polars {polars.__version__}")
    failures, tried, read = 0, 0, 0
    for seed in seeds.chosen(sys.argv[2:], 100, 2):
        folder = tempfile.mkdtemp(prefix="frazil-ipc-")
        tried += 1
        try:
            read += check(library, seed, folder)
        except (Exception, polars.exceptions.PanicException) as error:  # whatever a seed brings, the others go on
            failures += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:2000]}; kept in {folder}", flush=True)
            continue
        shutil.rmtree(folder)
    print(f"{tried} seeds, {read} of {2 * tried} files and streams that pyarrow wrote were read, {failures} failures")
    # Some schemas pyarrow does not write, or does not read again.
    return 1 if failures or read < 1.5 * tried else 0


if __name__ == "__main__":
    sys.exit(main())
