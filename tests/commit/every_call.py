"""A process that appends is killed at each of its system calls, and each of them fails: the table is the old one or the new
one, whole, and what was said to be done is there.

usage: every_call.py FRAZIL [SEED ...]   without seeds: one of tests/seeds.py

strace injects. The rows go through the whole of `frazil load`: data files, manifests, the metadata file, and the step of
a SQLite catalog or of a table by its path. Where FRAZIL_TEST_SECONDS is below ten minutes, faults are drawn by the seed.
"""

import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import seeds

# What changes or reads files.
CALLS = ("openat", "read", "pread64", "write", "pwrite64", "mkdir", "renameat2", "rename", "link", "unlink", "unlinkat",
         "rmdir", "fsync", "fdatasync", "ftruncate", "newfstatat", "getdents64", "flock", "close")
# A temporary, or the file that it becomes.
NAMES = re.compile(r"\.frazil-tmp-|.*[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}.*\.(parquet|avro|metadata\.json)$|"
                   r"v\d+\.metadata\.json$|version-hint\.text$")
FULL_DISK = {"write", "pwrite64", "mkdir", "openat", "ftruncate", "renameat2"}


class Lake:
    """A folder with one table of two rows, which can be put back."""

    def __init__(self, frazil, folder, kind):
        self.frazil = frazil
        self.kind = kind
        self.folder = folder
        self.path = os.path.join(folder, "lake")
        os.mkdir(self.path)
        self.options = ["--threads", "1"]
        if kind == "sqlite":
            self.table = "web.hits"
            self.options += ["--uri", f"sqlite:///{self.path}/catalog.db", "--warehouse", self.path]
            self.run("namespace", "create", "web")
        else:
            self.table = os.path.join(self.path, "hits")
        for name, rows in (("old", "1,a\n2,b\n"), ("new", "3,a\n4,b\n5,c\n"), ("more", "6,c\n")):
            with open(os.path.join(folder, name + ".csv"), "w") as file:
                file.write("id,host\n" + rows)
        self.run("create", self.table, "--schema", "id bigint not null, host string", "--partition-by", "host",
                 "--property", "commit.manifest.min-count-to-merge=2", "--property", "commit.status-check.min-wait-ms=1")
        self.run("load", self.table, os.path.join(folder, "old.csv"))
        self.old_files = self.files()
        self.kept = os.path.join(folder, "kept")
        shutil.copytree(self.path, self.kept)

    def put_back(self):
        shutil.rmtree(self.path)
        shutil.copytree(self.kept, self.path)

    def files(self):
        """All but the database's, by their paths below the lake."""
        found = (os.path.relpath(os.path.join(where, name), self.path) for where, _, names in os.walk(self.path) for name in names)
        return {path for path in found if not path.startswith("catalog.db")}

    def words(self, verb, *arguments):
        return [self.frazil, verb, *arguments, *self.options]

    def run(self, *words):
        done = subprocess.run(self.words(*words), capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def ids(self):
        return sorted(json.loads(line)["id"] for line in self.run("scan", self.table, "--format", "json").splitlines())

    def load(self, *strace):
        words = self.words("load", self.table, os.path.join(self.folder, "new.csv"))
        return subprocess.run(["strace", "-f", "-qq", *strace, *words], capture_output=True, text=True, timeout=300)


def find_calls(lake):
    """[(call, its number among those of its name in its thread)] of those that go to the lake."""
    log = os.path.join(lake.folder, "log")
    lake.put_back()
    done = lake.load("-y", "-o", log, "-e", "trace=" + ",".join(CALLS))
    if done.returncode != 0:
        print(f"skipped: strace cannot trace here: {done.stderr.strip()[:200]}")
        sys.exit(77)
    assert lake.ids() == [1, 2, 3, 4, 5]
    counts = collections.Counter()
    found = set()
    with open(log) as lines:
        for line in lines:
            match = re.match(r"(\d+) +(\w+)\(", line)
            if match is None or match[2] not in CALLS:
                continue
            counts[match[1], match[2]] += 1
            if lake.path in line:
                found.add((match[2], counts[match[1], match[2]]))
    return sorted(found)


REMOVES = {"unlink", "unlinkat", "rmdir"}


def check(lake, call, what, done):
    """Gives what became of the rows."""
    killed = done.returncode in (-9, 137)
    left = {os.path.basename(path) for path in lake.files() - lake.old_files}
    # What is left by a dead process is told by its name; what failed leaves nothing, unless it could not be removed.
    for name in left:
        assert NAMES.match(name), f"{what}: left {name}"
    if done.returncode != 0 and not killed and "not known" not in done.stderr and "cannot write the output" not in done.stderr:
        assert not left or call in REMOVES, f"{what}: left {left}; {done.stderr}"
    ids = lake.ids()
    assert ids in ([1, 2], [1, 2, 3, 4, 5]), f"{what}: rows {ids}; {done.stderr}"
    is_new = len(ids) == 5
    is_unknown = "not known" in done.stderr
    if done.returncode == 0:
        assert is_new, f"{what}: said to be done, and it is not"
    elif not killed:
        # Or what failed came after it: telling the user.
        is_excused = is_unknown or "cannot write the output" in done.stderr
        assert not is_new or is_excused, f"{what}: said to have failed, and it is done: {done.stderr}"
    # And one can go on.
    lake.run("load", lake.table, os.path.join(lake.folder, "more.csv"))
    after = lake.ids()
    # A table by its path whose process died, or knew not what became of the version, before it wrote the hint: readers see
    # the version before, as in any engine, until the next commit, which goes on from the newest.
    is_behind = (killed or is_unknown) and lake.kind == "path" and not is_new and after == [1, 2, 3, 4, 5, 6]
    assert after == ids + [6] or is_behind, f"{what}: rows {ids}, and {after} after one more"
    return ("killed" if killed else "done" if done.returncode == 0 else "failed") + (", new" if is_new else ", old")


def check_syncs(lake):
    """With durability=full each file is on the disk before it has its name, its folder after it, and all of them before what
    commits: the database's own syncs, or the name of the version."""
    log = os.path.join(lake.folder, "syncs")
    lake.put_back()
    words = lake.words("load", lake.table, os.path.join(lake.folder, "new.csv"), "--durability", "full")
    subprocess.run(["strace", "-f", "-qq", "-y", "-o", log, "-e", "trace=fsync,fdatasync,renameat2,rename,link,linkat", *words],
                   check=True, capture_output=True, timeout=300)
    synced, names, unsynced, committed = set(), [], set(), False
    with open(log) as lines:
        for line in lines:
            if match := re.search(r"f(?:data)?sync\(\d+<(.*?)>\) += 0", line):
                synced.add(match[1])
                unsynced.discard(match[1])
                if "catalog.db" in match[1] and not committed:
                    committed = True
                    assert not unsynced, f"the database before {unsynced}"
            elif match := re.search(r'(?:rename|link)\w*\(.*?"(.*?)".*"(.*?)".*= 0', line):
                temporary, name = (os.path.join(os.getcwd(), path) for path in match.groups())
                assert temporary in synced, f"{name} before its bytes"
                is_version = re.search(r"/v\d+\.metadata\.json$", name)
                assert not is_version or not unsynced, f"{name} before {unsynced}"
                names.append(name)
                unsynced.add(os.path.dirname(name))
    assert not unsynced, unsynced
    assert committed == (lake.kind == "sqlite")
    # Two data files; a manifest of theirs and one that is merged, the list, the metadata, and the hint of a table by its path.
    assert len(names) >= 5, names
    return len(names)


def main():
    frazil = os.path.abspath(sys.argv[1])
    if shutil.which("strace") is None:
        print("skipped: there is no strace")
        sys.exit(77)
    seconds = int(os.environ.get("FRAZIL_TEST_SECONDS") or 20)
    chance = random.Random(seeds.chosen(sys.argv[2:], 1, 0)[0])
    for kind in ("path", "sqlite"):
        with tempfile.TemporaryDirectory() as folder:
            lake = Lake(frazil, os.path.realpath(folder), kind)
            cases = []
            for call, number in find_calls(lake):
                cases.append((call, number, "signal=SIGKILL"))
                cases.append((call, number, "error=ENOSPC" if call in FULL_DISK else "error=EIO"))
            print(f"{kind}: {check_syncs(lake)} files are synced before the commit, if it is to be durable")
            count = len(cases)
            if seconds < 600:
                cases = chance.sample(cases, min(count, max(10, 2 * seconds)))
            outcomes = collections.Counter()
            for call, number, fault in cases:
                lake.put_back()
                done = lake.load("-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={number}")
                outcomes[check(lake, call, f"{kind}: {fault} at {call} {number}", done)] += 1
            print(f"{kind}: {len(cases)} of {count} faults; " +
                  ", ".join(f"{name}: {number}" for name, number in sorted(outcomes.items())))
            assert len(outcomes) >= (4 if len(cases) >= 40 else 2), outcomes  # a sample that small may miss the late ones


if __name__ == "__main__":
    main()
