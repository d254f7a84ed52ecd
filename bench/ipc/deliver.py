"""What did a writer write? Runs it once into a file and tells the content hash of what pyarrow reads there.

usage: deliver.py COMMAND ...        a command of job ipc that writes: it understands --to FILE

Prints one JSON object: content_hash and rows, or the command's own refusal.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import delivered


def batches_of(path):
    import pyarrow as pa

    with pa.memory_map(path) as source:
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        table = pa.ipc.open_file(source).read_all() if is_file else pa.ipc.open_stream(source).read_all()
        yield from table.to_batches()


def main(command):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "written")
        return delivered.tell([*command, "--to", path], lambda: batches_of(path))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
