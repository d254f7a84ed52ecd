"""Who is wrong when engines disagree?"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import hashes


def judged(*found):
    """[(status, reason)] of (engine, hash, rows)"""
    found = [
        {
            "engine": engine,
            "configuration": "default",
            "content_hash": value,
            "rows": rows,
            "status": "ok",
            "reason": None,
        }
        for engine, value, rows in found
    ]
    hashes.judge(found)
    return [(h["status"], h["reason"]) for h in found]


class Judge(unittest.TestCase):
    def statuses(self, *found):
        return [status for status, _ in judged(*found)]

    def test_all_agree(self):
        self.assertEqual(self.statuses(("a", "11", 5), ("b", "11", 5), ("frazil", "11", 5)), ["ok"] * 3)

    def test_the_one_against_many_is_wrong_and_told_what_was_right(self):
        got = judged(("a", "11", 5), ("b", "22", 5), ("c", "11", 5))
        self.assertEqual(got[1], ("wrong_hash", "delivered 5 rows with hash 22, not 5 rows with hash 11 as a, c"))

    def test_another_number_of_rows_is_wrong_too(self):
        self.assertEqual(self.statuses(("a", "11", 5), ("b", "11", 6), ("c", "11", 5)), ["ok", "wrong_hash", "ok"])

    def test_counts_are_compared_without_hash(self):
        self.assertEqual(judged(("a", None, 5), ("b", None, 4))[1], ("wrong_hash", "delivered 4 rows, not 5 rows as a"))

    def test_of_equally_many_the_first_is_right(self):
        self.assertEqual(self.statuses(("a", "11", 5), ("b", "22", 5)), ["ok", "wrong_hash"])

    def test_many_configurations_are_one_vote(self):
        self.assertEqual(
            self.statuses(("a", "11", 5), ("a", "11", 5), ("a", "11", 5), ("b", "22", 5), ("c", "22", 5)),
            ["wrong_hash"] * 3 + ["ok"] * 2,
        )

    def test_frazil_has_no_vote(self):
        self.assertEqual(
            self.statuses(("frazil", "22", 5), ("frazil", "22", 5), ("a", "11", 5)), ["wrong_hash", "wrong_hash", "ok"]
        )

    def test_without_peers_nothing_can_be_said(self):
        self.assertEqual(judged(("frazil", "22", 5)), [("ok", "no peer to compare with")])

    def test_who_did_not_deliver_has_no_vote_and_keeps_its_status(self):
        found = [
            {"engine": "a", "content_hash": None, "rows": None, "status": "failed", "reason": "why"},
            {"engine": "b", "content_hash": "11", "rows": 5, "status": "ok", "reason": None},
        ]
        hashes.judge(found)
        self.assertEqual([(h["status"], h["reason"]) for h in found], [("failed", "why"), ("ok", None)])


if __name__ == "__main__":
    unittest.main()
