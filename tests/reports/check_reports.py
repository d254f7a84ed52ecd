"""Is every behaviour that users of today's systems report held by a test, or owned by an issue that will bring one?

usage: check_reports.py [--root DIR]

tests/reports.json lists the reports by their ids: what happens, and `tests` ("file: name", which must exist) or `issue`
(the capability that it belongs to). Fails, one line a finding, on an id that is missing or unknown, on a test that is
not in its file, and on an entry with both or neither.
"""

import argparse
import json
import pathlib
import re
import sys

# The ids of the collection, by their first letter: columns (W), pruning (P), deletes (D), metadata (M), commits (C),
# Parquet (Q), IPC (I), hangs (H), memory (R), speed (S). The numbers have gaps.
IDS = {
    "W": "01 03 05 06 07 10 11 13 14 20 21 22 23",
    "P": "01 03 04 06 11 13 14 16 19 20 23 25 27 30 31 32 35 36 38",
    "D": "01 02 03 05 06 08 09 10 13 14 16 17 21 22 25",
    "M": "01 02 03 05 07 08 10 11 14 15 16 18 19 20 23 25 26 27 28",
    "C": "01 02 06 08 09 10 12 14",
    "Q": "01 02 03 04 07 08 09 10 13 14 16 17 18 20 22 27 28 29 30 31 34 35",
    "I": "01 03 05 08 09 10 11 12 13 14 15 18 20 21 23 24 26 27 29",
    "H": "01 03 04 06 07",
    "R": "01 02 04 05 07 10 12",
    "S": "01 02 03 05 06 07 08 11 12 13 14",
}


def has_test(text, name):
    """Whether a C++ source has TEST(Suite, Name) or the like, or a Python source `def name`."""
    if "." in name:
        suite, case = name.split(".", 1)
        return re.search(rf"\b(TEST|TEST_F|TEST_P|RC_GTEST_PROP)\(\s*{suite}\s*,\s*{case}\b", text) is not None
    return re.search(rf"\bdef {re.escape(name)}\b", text) is not None


def findings(root, reports, ids):
    """Sentences about what is wrong with `reports`, a dictionary by id."""
    for missing in sorted(ids - reports.keys()):
        yield f"{missing} is missing"
    for unknown in sorted(reports.keys() - ids):
        yield f"{unknown} is no report"
    for key, entry in reports.items():
        if not entry.get("what"):
            yield f"{key} does not say what happens"
        if ("tests" in entry) == ("issue" in entry):
            yield f"{key} needs either tests or the issue that owns it"
        for test in entry.get("tests", []):
            file, _, name = test.partition(": ")
            path = root / file
            if not path.is_file():
                yield f"{key}: there is no {file}"
            elif not has_test(path.read_text(encoding="utf-8"), name):
                yield f"{key}: {file} has no test {name}"
        if "tests" in entry and not entry["tests"]:
            yield f"{key} has no test"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    ids = {letter + number for letter, numbers in IDS.items() for number in numbers.split()}
    reports = json.loads((root / "tests/reports.json").read_text(encoding="utf-8"))
    found = list(findings(root, reports, ids))
    for finding in found:
        print(f"tests/reports.json: {finding}")
    tested = sum("tests" in entry for entry in reports.values())
    print(f"{len(reports)} reports: {tested} tested, {len(reports) - tested} owned by an issue")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
