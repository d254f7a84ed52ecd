"""What did a writer write? Runs it once into a file and tells the content hash of what pyarrow reads there.

usage: deliver.py COMMAND ...        a command of job ipc that writes: it understands --to FILE

Prints one JSON object: content_hash and rows, or the command's own refusal.
"""

import json
import os
import subprocess
import sys
import tempfile

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(BENCH, "peers", "python"))
LIBRARY = os.path.join(os.path.dirname(BENCH), "build", "release", "bench", "content_hash", "libfrazil_content_hash.so")


def main(command):
    import pyarrow as pa
    import stream

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "written")
        done = subprocess.run([*command, "--to", path], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return done.returncode
        printed = json.loads(done.stdout.strip().splitlines()[-1])
        if "rows" not in printed:
            print(json.dumps(printed))
            return 0
        with pa.memory_map(path) as source:
            is_file = source.read(6) == b"ARROW1"
            source.seek(0)
            table = pa.ipc.open_file(source).read_all() if is_file else pa.ipc.open_stream(source).read_all()
            library = os.environ.get("FRAZIL_CONTENT_HASH", LIBRARY)
            content_hash, count = stream.content_hash(library, iter(table.to_batches()))
    if count != printed["rows"]:
        sys.exit(f"the file holds {count} rows, but {printed['rows']} were written")
    print(json.dumps({"content_hash": content_hash, "rows": count}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
