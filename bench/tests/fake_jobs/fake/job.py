"""Does the runner do what it says? A job of fake engines for its tests.

Each engine is engine.py, which behaves as its name says. The job is not about three threads.
"""

import os

from workload import Contender, DataSet

ENGINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "engine.py")
ROWS = int(os.environ.get("FAKE_ROWS", "1000"))


def data_sets(size):
    return {DataSet("tiny", "none", ROWS, 1, 1, 8): ("all_columns", "two_columns")}


def contenders(data, case, threads, size, path, engines, frazil):
    found = []
    if threads == 3:
        return ()
    for engine in [*engines, {"engine": "frazil", "command": frazil}]:
        name = engine["engine"]
        if "absent" in engine:
            found.append(Contender(name, "default", status="absent", reason=engine["absent"]))
            continue
        command = (*engine["command"], name, path, case, str(threads))
        found.append(
            Contender(name, "default", command, () if name.startswith("floor") else (*command, "--hash"), seconds=0.1)
        )
    return tuple(found)
