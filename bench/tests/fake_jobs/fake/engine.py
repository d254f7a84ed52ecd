"""An engine that behaves as its name says, and notes each call in a file beside the data.

usage: engine.py NAME PATH CASE THREADS [--hash]
"""

import json
import os
import signal
import sys
import time

name, path, case, threads = sys.argv[1:5]
hashing = "--hash" in sys.argv
with open(os.path.join(os.path.dirname(path), "calls"), "a") as calls:
    calls.write(f"{'hash' if hashing else 'time'} {name} {case} {threads}\n")
rows = int(open(path).read())
if name == "failing":
    sys.exit("no such file")
if name == "failing_later" and not hashing:
    sys.exit("out of luck")
if name == "hanging" and not hashing:
    time.sleep(600)
if name == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if name == "garbage":
    print("Segmentation fault? \x00\xff")
    sys.exit(0)
if name == "refusing":
    print(json.dumps({"not_offered": "no such knob"}))
    sys.exit(0)
if name == "few_rows" and not hashing:
    rows -= 1
if hashing:
    print(json.dumps({"content_hash": "0123456789abcdef" if name == "wrong" else "00000000000000aa", "rows": rows}))
    sys.exit(0)
started = time.perf_counter()
time.sleep(float(os.environ.get("FAKE_FRAZIL_SECONDS", "0.01")) if name == "frazil" else 0.01)
print(json.dumps({"rows": rows, "seconds": time.perf_counter() - started, "seconds_to_first_batch": None}))
