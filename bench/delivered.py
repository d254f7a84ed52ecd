"""What a writer wrote, told by its rows' content hash: what the deliver.py of each job that writes has in common."""

import json
import os
import subprocess
import sys

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(BENCH, "peers", "python"))
LIBRARY = os.path.join(os.path.dirname(BENCH), "build", "release", "bench", "content_hash", "libfrazil_content_hash.so")


def tell(command, batches):
    """Runs the writer, then prints one JSON object: content_hash and rows of `batches()`, an iterator of Arrow batches, or the
    writer's own refusal. Gives the exit code; exits if the writer told another number of rows."""
    import stream

    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return done.returncode
    printed = json.loads(done.stdout.strip().splitlines()[-1])
    if "rows" not in printed:
        print(json.dumps(printed))
        return 0
    content_hash, count = stream.content_hash(os.environ.get("FRAZIL_CONTENT_HASH", LIBRARY), batches())
    if count != printed["rows"]:
        sys.exit(f"there are {count} rows, but {printed['rows']} were written")
    print(json.dumps({"content_hash": content_hash, "rows": count}))
    return 0
