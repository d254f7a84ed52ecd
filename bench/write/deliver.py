"""What did a writer write? Runs it once and tells the content hash of the rows in its Parquet files.

usage: deliver.py COMMAND ...        a command of job W: with --folder, and it understands --keep

Prints one JSON object: content_hash and rows, or the command's own refusal. Columns that an engine added for its
partitions are left out; the hash does not depend on the order of rows, nor on which file they are in.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(BENCH, "peers", "python"))
LIBRARY = os.path.join(os.path.dirname(BENCH), "build", "release", "bench", "content_hash", "libfrazil_content_hash.so")


def rows_of(paths, schema):
    """The columns of `schema`, in its types, of all files."""
    import pyarrow.parquet as pq

    for path in paths:
        # Not as a dataset: folders named ts_day=... would become columns.
        table = pq.ParquetFile(path).read(columns=schema.names)
        yield from table.cast(schema).to_batches()


def main(command):
    import rows
    import stream

    at = command.index("--folder") + 1
    with tempfile.TemporaryDirectory(dir=command[at]) as folder:
        command = [*command[:at], folder, *command[at + 1 :], "--keep"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return done.returncode
        printed = json.loads(done.stdout.strip().splitlines()[-1])
        if "rows" not in printed:
            print(json.dumps(printed))
            return 0
        paths = sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.parquet"), recursive=True))
        partitions = int(command[command.index("--partitions") + 1]) if "--partitions" in command else None
        schema = rows.schema(partitions, "--nested" in command)
        library = os.environ.get("FRAZIL_CONTENT_HASH", LIBRARY)
        content_hash, count = stream.content_hash(library, rows_of(paths, schema))
    if count != printed["rows"]:
        sys.exit(f"the files hold {count} rows, but {printed['rows']} were written")
    print(json.dumps({"content_hash": content_hash, "rows": count}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
