"""What did a writer write? Runs it once and tells the content hash of the rows in its Parquet files.

usage: deliver.py COMMAND ...        a command of job W: with --folder, and it understands --keep

Prints one JSON object: content_hash and rows, or the command's own refusal. Columns that an engine added for its
partitions are left out; the hash does not depend on the order of rows, nor on which file they are in.
"""

import glob
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import delivered


def rows_of(paths, schema):
    """The columns of `schema`, in its types, of all files."""
    import pyarrow.parquet as pq

    for path in paths:
        # Not as a dataset: folders named ts_day=... would become columns.
        table = pq.ParquetFile(path).read(columns=schema.names)
        yield from table.cast(schema).to_batches()


def main(command):
    import rows

    at = command.index("--folder") + 1
    partitions = int(command[command.index("--partitions") + 1]) if "--partitions" in command else None
    schema = rows.schema(partitions, "--nested" in command)
    with tempfile.TemporaryDirectory(dir=command[at]) as folder:

        def written():
            paths = sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.parquet"), recursive=True))
            return rows_of(paths, schema)

        return delivered.tell([*command[:at], folder, *command[at + 1 :], "--keep"], written)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
