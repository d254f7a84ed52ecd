#!/usr/bin/env python3
"""Eight processes of `frazil load` and one of PyIceberg append to one table of one SQLite catalog, 20 times each and at once:
every commit that was acknowledged is there, each row once.

usage: storm.py FRAZIL
"""
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

try:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.exceptions import CommitFailedException
    from sqlalchemy.exc import OperationalError
except ImportError as error:
    print(f"storm.py: skipped, {error}")
    sys.exit(77)

PROCESSES, APPENDS = 8, 20


def main():
    frazil = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="frazil-storm-") as home:
        uri = f"sqlite:///{home}/lake.db"
        options = ["--uri", uri, "--warehouse", f"{home}/lake", "--threads", "1"]

        def run(*words):
            done = subprocess.run([frazil, *words, *options], capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, f"{words}: {done.stderr}"
            return done.stdout

        run("namespace", "create", "n")
        run("create", "n.t", "--schema", "id long, who string", "--partition-by", "who", "--property", "commit.retry.num-retries=1000",
            "--property", "commit.retry.min-wait-ms=5", "--property", "commit.retry.max-wait-ms=200",
            "--property", "commit.manifest.min-count-to-merge=25")

        def by_frazil(number):
            for turn in range(APPENDS):
                path = f"{home}/{number}-{turn}.csv"
                with open(path, "w") as file:
                    file.write("id,who\n" + "".join(f"{turn * 10 + i},frazil-{number}\n" for i in range(turn % 3 + 1)))
                run("load", "n.t", path)
            return [(f"frazil-{number}", turn * 10 + i) for turn in range(APPENDS) for i in range(turn % 3 + 1)]

        def by_pyiceberg():
            """How many of its commits get through in the end is its own affair: those count that it says are done."""
            catalog, done = SqlCatalog("default", uri=uri, warehouse=f"file://{home}/lake"), []
            for turn in range(APPENDS):
                try:
                    catalog.load_table("n.t").append(pa.table({"id": pa.array([turn], pa.int64()), "who": ["pyiceberg"]}))
                    done.append(("pyiceberg", turn))
                except (CommitFailedException, OperationalError):
                    pass
            return done

        with concurrent.futures.ThreadPoolExecutor(PROCESSES + 1) as pool:
            work = [pool.submit(by_pyiceberg), *(pool.submit(by_frazil, number) for number in range(PROCESSES))]
            expected = [row for each in work for row in each.result()]
        table = SqlCatalog("default", uri=uri).load_table("n.t")
        found = table.scan().to_arrow()
        assert collections.Counter(zip(found["who"].to_pylist(), found["id"].to_pylist())) == collections.Counter(expected)
        assert run("scan", "n.t", "--count") == f"{len(expected)}\n"
        theirs = sum(who == "pyiceberg" for who, _ in expected)
        commits = PROCESSES * APPENDS + theirs
        assert len(table.metadata.snapshots) == commits == table.metadata.last_sequence_number
        print(f"{commits} commits, {theirs} of them PyIceberg's, {len(expected)} rows")


main()
