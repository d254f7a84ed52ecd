"""check_reports.py goes red where it must."""

import pathlib
import tempfile
import unittest

import check_reports


class Findings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "a_test.cc").write_text("TEST(Suite, Name) {\n}\nRC_GTEST_PROP(Suite, Any, (int i)) {}\n")
        (self.root / "b.py").write_text("def test_it(self): pass\n")

    def found(self, reports, ids=("W01",)):
        return list(check_reports.findings(self.root, reports, set(ids)))

    def test_a_test_that_exists_is_enough(self):
        for test in ("a_test.cc: Suite.Name", "a_test.cc: Suite.Any", "b.py: test_it"):
            self.assertEqual(self.found({"W01": {"what": "x", "tests": [test]}}), [])
        self.assertEqual(self.found({"W01": {"what": "x", "issue": "writes"}}), [])

    def test_what_is_missing_or_wrong_is_named(self):
        self.assertEqual(self.found({}), ["W01 is missing"])
        self.assertIn("W02 is no report", self.found({"W02": {"what": "x", "issue": "writes"}}))
        for entry in (
            {"what": "x"},
            {"tests": ["b.py: test_it"]},
            {"what": "x", "tests": []},
            {"what": "x", "tests": ["b.py: test_it"], "issue": "writes"},
            {"what": "x", "tests": ["c.py: test_it"]},
            {"what": "x", "tests": ["b.py: test_i"]},
            {"what": "x", "tests": ["a_test.cc: Suite.Nam"]},
        ):
            self.assertEqual(len(self.found({"W01": entry})), 1, entry)


if __name__ == "__main__":
    unittest.main()
