"""Does the instrument catch an engine that delivers something else, before it is timed?

A real engine (pyarrow) whose rows are damaged on the way: one value changed; two values of a column swapped between
rows; one row duplicated over another. Needs the peers' Python environment and the content hash's library, which
`make bench` makes; says so and skips without.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
BUILD = os.path.join(os.path.dirname(BENCH), "build")
PYTHON = os.path.join(BUILD, "bench", "peers", "environments", "main", "bin", "python")
LIBRARY = os.environ.get("FRAZIL_CONTENT_HASH") or os.path.join(
    BUILD, "release", "bench", "content_hash", "libfrazil_content_hash.so"
)
READ = os.path.join(BENCH, "peers", "python", "reader.py")
DAMAGES = ("value", "swap", "duplicate")

LIAR = f"""
import os, sys
words = sys.argv[1:]
engine = words.index("--engine") + 1
damage = words[engine].removeprefix("liar_")
words[engine] = "pyarrow_128k"
os.execv({PYTHON!r}, [{PYTHON!r}, {READ!r}, *words] + (["--corrupt", damage] if "--hash" in words else []))
"""
JOB = '''"""Are liars caught?"""
from read import job as read
from workload import DataSet
def data_sets(size): return {DataSet("random_nulls", "zstd", 3000, 5, 3, 36): ("all_columns", "one_percent")}
contenders = read.contenders
'''


class WrongEngines(unittest.TestCase):
    def setUp(self):
        for needed in (PYTHON, LIBRARY):
            if not os.path.exists(needed):
                print(f"wrong engines: skipped, {needed} is not there (make bench makes it)", file=sys.stderr)
                self.skipTest(f"no {needed}")

    def test_each_is_caught_by_its_hash_and_never_timed(self):
        with tempfile.TemporaryDirectory() as folder:

            def write(name, text, mode=0o644):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
                os.chmod(path, mode)
                return path

            write("liars/job.py", JOB)
            write(
                "liars/make_data.py",
                f"import runpy\nrunpy.run_path({os.path.join(BENCH, 'read', 'make_data.py')!r}, run_name='__main__')\n",
            )
            liar = write("liar.py", LIAR)
            honest = [{"engine": name, "command": [PYTHON, READ]} for name in ("pyiceberg_reader", "polars_batches")]
            liars = [{"engine": f"liar_{damage}", "command": [sys.executable, liar]} for damage in DAMAGES]
            done = subprocess.run(
                [
                    sys.executable,
                    os.path.join(BENCH, "run.py"),
                    "--jobs-folder",
                    folder,
                    "--job",
                    "liars",
                    "--data",
                    f"{folder}/data",
                    "--out",
                    folder,
                    "--engines",
                    write("engines.json", json.dumps(honest + liars)),
                    "--python",
                    PYTHON,
                    "--no-report",
                    "--rounds",
                    "1",
                    "--threads",
                    "2",
                    "--frazil",
                    write("frazil", '#!/bin/sh\necho \'{"not_yet": "not part of this test"}\'\n', 0o755),
                ],
                capture_output=True,
                text=True,
                timeout=300,
                env={**os.environ, "FRAZIL_CONTENT_HASH": LIBRARY},
            )
            self.assertEqual(done.returncode, 1, done.stderr)
            with open(os.path.join(folder, "results", "liars-quick.json")) as file:
                document = json.load(file)
        rows = [row for row in document["summary"] if row["engine"] not in ("frazil", "floor_frazil")]
        self.assertEqual(len(rows), 2 * 5)
        for row in rows:
            with self.subTest(f"{row['engine']} {row['case']}"):
                wrong = row["engine"].startswith("liar")
                self.assertEqual(row["status"], "wrong_hash" if wrong else "ok", row["reason"])
                self.assertEqual(row["rounds"], 0 if wrong else 1)
        counts = {h["rows"] for h in document["hashes"] if h["case"] == "all_columns" and h["rows"] is not None}
        self.assertEqual(counts, {3000}, "the number of rows alone tells nothing")


if __name__ == "__main__":
    unittest.main()
