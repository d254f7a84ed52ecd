"""Random batches of every type of pyarrow's: Frazil reads what others wrote, others read what Frazil wrote.

Usage: differential.py LIBRARY [--arrow-rs LIBRARY] [SEED ...]

LIBRARY is the MODULE frazil_ipc_library, the other one is built of arrow_rs/. Exits with 77 if pyarrow or Polars is missing.

Each seed makes one schema and its batches (random_tables.py). pyarrow writes them with random options as stream or file
(versions, legacy framing, codecs, dictionaries replaced, grown or unified), and Frazil reads them in each way that it has:
by reads, mapped, from a source without an end, pushed in pieces. Frazil writes them with random options, and pyarrow reads
them. Batches go from library to library by the C stream interface, so that each direction is checked by itself. The same
both ways with Polars, for the types that it has, and with arrow-rs if its library is given: their readers and writers are
not Arrow C++'s. Without seeds: those of ../seeds.py. A failure prints its seed and keeps the file.

Left out, and counted, is what fails without Frazil: what pyarrow and arrow-rs wrote if they do not find the same batches in
it, and what arrow-rs reads wrongly if it does so with pyarrow's file of the same batches too.
"""
import argparse
import contextlib
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

REFUSALS = (pa.ArrowException, OSError, RuntimeError)  # of pyarrow, OSError in its name, and of a Library
CODECS = {"none": 0, "zstd": 6, "lz4": 8}  # by their number in Codec


class Stream(ctypes.Structure):
    _fields_ = [("fields", ctypes.c_void_p * 5)]


class Library:
    """Functions of C whose names begin with `prefix`."""

    def __init__(self, path, prefix):
        self.library = ctypes.CDLL(os.path.abspath(path))
        self.prefix = prefix
        self.function("last_error").restype = ctypes.c_char_p

    def function(self, name):
        return getattr(self.library, f"{self.prefix}_{name}")

    def call(self, name, *arguments):
        if self.function(name)(*arguments) != 0:
            raise RuntimeError(self.function("last_error")().decode())

    def read(self, path, *how):
        """(schema, batches)"""
        stream = Stream()
        self.call("read", path.encode(), *how, ctypes.byref(stream))
        reader = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream))
        return reader.schema, list(reader)

    def write(self, schema, batches, path, *how):
        stream = Stream()
        pa.RecordBatchReader.from_batches(schema, batches)._export_to_c(ctypes.addressof(stream))
        self.call("write", ctypes.byref(stream), path.encode(), *how)


class Frazil(Library):
    def __init__(self, path):
        super().__init__(path, "frazil")

    def read(self, path, way, seed):
        return super().read(path, way.encode(), ctypes.c_uint64(seed))

    def write(self, schema, batches, path, is_file, codec, alignment, dictionaries, savings, version4):
        super().write(schema, batches, path, int(is_file), CODECS[codec], alignment, dictionaries, savings, int(version4))


class ArrowRs(Library):
    def __init__(self, path):
        super().__init__(path, "arrow_rs")

    def read(self, path, is_file):
        return super().read(path, int(is_file))

    def write(self, schema, batches, path, is_file, codec, alignment, has_deltas, version4):
        super().write(schema, batches, path, int(is_file), CODECS[codec], alignment, int(has_deltas), int(version4))


def kind_of(is_file):
    return "file" if is_file else "stream"


def pyarrow_read(path):
    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    if is_file:
        with pa.ipc.open_file(path) as reader:
            return reader.schema, [reader.get_batch(i) for i in range(reader.num_record_batches)]
    with pa.ipc.open_stream(path) as reader:
        return reader.schema, list(reader)


def pyarrow_write(rng, schema, batches, path, is_file, version4=None):
    """None, or why pyarrow does not write them so. What it can read itself alone counts."""
    is_old = rng.random() < 0.2 if version4 is None else version4
    version = pa.ipc.MetadataVersion.V4 if is_old else pa.ipc.MetadataVersion.V5
    # pyarrow 26 compresses under V4 too, but does not say so: it cannot read that itself.
    codec = None if is_old else rng.choice([None, None, "lz4", "zstd"])
    options = pa.ipc.IpcWriteOptions(
        metadata_version=version, allow_64bit=True, compression=codec, emit_dictionary_deltas=rng.random() < 0.5,
        unify_dictionaries=is_file and rng.random() < 0.5,
        use_legacy_format=is_old and rng.random() < 0.5)
    try:
        with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(path, schema, options=options) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return random_tables.difference(schema, batches, *pyarrow_read(path))
    except REFUSALS as error:
        return str(error)


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
                raise AssertionError(f"read ({way}) of a {kind_of(is_file)} of pyarrow: {difference}")
        count += 1
    return count


def write_options(rng, is_file):
    options = {"codec": rng.choice(list(CODECS)), "alignment": rng.choice([8, 64]),
               "dictionaries": rng.choice([-1, 1, 2] if is_file else [-1, 0, 1, 2]), "savings": rng.choice([0, 20])}
    return {**options, "version4": options["codec"] == "none" and rng.random() < 0.3}


def check_writes(library, rng, schema, batches, path):
    for is_file in (False, True):
        options = write_options(rng, is_file)
        library.write(schema, batches, path, is_file, **options)
        difference = random_tables.difference(schema, batches, *pyarrow_read(path))
        if difference:
            raise AssertionError(f"a {kind_of(is_file)} written with {options}: {difference}")


def arrow_rs_difference(arrow_rs, schema, batches, path, is_file):
    """What is different in what arrow-rs reads, or why it does not read it; or None."""
    try:
        return random_tables.difference(schema, batches, *arrow_rs.read(path, is_file))
    except REFUSALS as error:
        return str(error)


def arrow_rs_write(arrow_rs, rng, schema, batches, path, is_file):
    """None, or why arrow-rs does not write them."""
    codec = rng.choice(list(CODECS))
    version4 = codec == "none" and rng.random() < 0.2
    try:
        arrow_rs.write(schema, batches, path, is_file, codec, rng.choice([8, 16, 32, 64]), rng.random() < 0.5, version4)
        own = arrow_rs_difference(arrow_rs, schema, batches, path, is_file)
        return own or random_tables.difference(schema, batches, *pyarrow_read(path))
    except REFUSALS as error:
        return str(error)


def check_arrow_rs(library, arrow_rs, seed, rng, schema, batches, path):
    """(how many files and streams of arrow-rs Frazil read, how many of Frazil's arrow-rs read)"""
    read, written = 0, 0
    for is_file in (False, True):
        if not arrow_rs_write(arrow_rs, rng, schema, batches, path, is_file):
            way = rng.choice(["reads", "mapped", "source"])
            difference = random_tables.difference(schema, batches, *library.read(path, way, seed))
            if difference:
                raise AssertionError(f"read ({way}) of a {kind_of(is_file)} of arrow-rs: {difference}")
            read += 1
        options = write_options(rng, is_file)
        library.write(schema, batches, path, is_file, **options)
        difference = arrow_rs_difference(arrow_rs, schema, batches, path, is_file)
        if not difference:
            written += 1
        elif not (pyarrow_write(rng, schema, batches, f"{path}.pyarrow", is_file, options["version4"])
                  or arrow_rs_difference(arrow_rs, schema, batches, f"{path}.pyarrow", is_file)):
            raise AssertionError(f"a {kind_of(is_file)} written with {options}, read by arrow-rs: {difference}")
    return read, written


@contextlib.contextmanager
def without_stderr():
    """For panics, which are printed before they are raised."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def polars_difference(what, wanted, found):
    if wanted.schema != found.schema or not wanted.equals(found):
        raise AssertionError(f"{what}: {found.schema} {found.rows()}\ninstead of {wanted.schema} {wanted.rows()}")


def check_polars(library, seed, rng, path):
    table = random_tables.make_polars_table(rng)
    frame = polars.from_arrow(table)
    for is_file in (False, True):
        kind = kind_of(is_file)
        options = {"compression": rng.choice(["uncompressed", "lz4", "zstd"]),
                   "compat_level": rng.choice([polars.CompatLevel.oldest(), polars.CompatLevel.newest()])}
        (frame.write_ipc if is_file else frame.write_ipc_stream)(path, **options)
        schema, batches = library.read(path, rng.choice(["reads", "mapped", "source"]), seed)
        polars_difference(f"read of a {kind} of Polars", frame, polars.from_arrow(pa.Table.from_batches(batches, schema)))
        codec = rng.choice(list(CODECS))
        library.write(table.schema, table.to_batches(), path, is_file, codec, rng.choice([8, 64]), -1, 0, False)
        try:
            with without_stderr():
                read = polars.read_ipc(path) if is_file else polars.read_ipc_stream(path)
        except polars.exceptions.PanicException:
            # Polars 2.1 panics on a buffer without bytes of a view in a compressed body, whoever wrote it.
            if codec == "none" or "_view" not in str(table.schema):
                raise
            continue
        polars_difference(f"a {kind} with {codec}, read by Polars", frame, read)


class Counts:
    """Of files and streams, two of each a seed."""

    def __init__(self):
        self.tried, self.failures, self.of_pyarrow, self.of_arrow_rs, self.for_arrow_rs = 0, 0, 0, 0, 0


def check(library, arrow_rs, seed, folder, counts):
    rng = random.Random(seed)
    schema, batches = random_tables.make_batches(rng)
    for batch in batches:
        batch.validate(full=True)
    path = os.path.join(folder, "batches.arrow")
    counts.of_pyarrow += check_reads(library, seed, rng, schema, batches, path)
    check_writes(library, rng, schema, batches, path)
    check_polars(library, seed, rng, path)
    if arrow_rs:
        read, written = check_arrow_rs(library, arrow_rs, seed, rng, schema, batches, path)
        counts.of_arrow_rs += read
        counts.for_arrow_rs += written


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=Frazil)
    parser.add_argument("--arrow-rs", type=ArrowRs)
    parser.add_argument("seeds", nargs="*")
    arguments = parser.parse_intermixed_args()
    print(f"pyarrow {pa.__version__}, Polars {polars.__version__}, {'arrow-rs' if arguments.arrow_rs else 'no arrow-rs'}")
    counts = Counts()
    for seed in seeds.chosen(arguments.seeds, 100, 2):
        folder = tempfile.mkdtemp(prefix="frazil-ipc-")
        counts.tried += 1
        try:
            check(arguments.library, arguments.arrow_rs, seed, folder, counts)
        except (Exception, polars.exceptions.PanicException) as error:  # whatever a seed brings, the others go on
            counts.failures += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:2000]}; kept in {folder}", flush=True)
            continue
        shutil.rmtree(folder)
    of = 2 * counts.tried
    print(f"{counts.tried} seeds, {counts.of_pyarrow} of {of} files and streams that pyarrow wrote were read, "
          f"{counts.failures} failures")
    if arguments.arrow_rs:
        print(f"arrow-rs: {counts.of_arrow_rs} of its {of} were read, it read {counts.for_arrow_rs} of {of}")
    is_thin = counts.of_pyarrow < 0.75 * of or (arguments.arrow_rs and min(counts.of_arrow_rs, counts.for_arrow_rs) < 0.75 * of)
    return 1 if counts.failures or is_thin else 0


if __name__ == "__main__":
    sys.exit(main())
