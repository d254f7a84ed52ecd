"""Does the report hold what its document says, without a browser? (bench/report/check.py looks at it in Chromium.)"""

import base64
import copy
import hashlib
import html.parser
import json
import os
import re
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
sys.path[:0] = [BENCH, os.path.join(BENCH, "report")]  # the second for what build.py imports beside itself

import markup  # noqa: E402
import series  # noqa: E402
from report import build  # noqa: E402

LIBRARY = ("window.vegaEmbed = null;", "6.0.0")


def sample():
    with open(os.path.join(HERE, "sample_result.json"), encoding="utf-8") as file:
        return json.load(file)


def summary_row(**changes):
    spread = {"median": 2.0, "min": 1.0, "max": 4.0}
    return {
        "set": "foreign",
        "codec": "zstd",
        "case": "all_columns",
        "threads": 2,
        "engine": "frazil",
        "configuration": "default",
        "status": "ok",
        "reason": None,
        "rows": 1000,
        "rows_per_second": 500,
        "seconds": spread,
        "seconds_to_first_batch": spread,
        "pool_peak_bytes": 1 << 20,
        "rss_peak_bytes": 2 << 20,
        "bytes_read": 10,
        "ratio_to_best_peer": {**spread, "rounds": [1.0, 2.0, 4.0]},
        "ratio_to_floor": None,
        **changes,
    }


class Parsed(html.parser.HTMLParser):
    """What a browser makes of a page: elements with their attributes, the cells of each table, the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.tables, self.scripts, self.text = [], {}, [], ""
        self._rows = self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside = tag if tag in ("script", "style", "td", "caption") else self._inside
        if tag == "table":
            self._rows = self.tables[dict(attributes)["id"]] = []
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag == "td":
            self._rows[-1].append("")
        elif tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = None if tag == self._inside else self._inside
        self._rows = None if tag == "table" else self._rows

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data
            if self._rows and self._rows[-1]:
                self._rows[-1][-1] += data

    def rows(self, table):
        return [row for row in self.tables[table] if row]


def report(document, earlier=()):
    return Parsed(build.page(document, earlier, LIBRARY))


def data_of(parsed):
    return json.loads(parsed.scripts[0])


class Tables(unittest.TestCase):
    def test_every_row_of_the_document_is_in_its_table(self):
        document = sample()
        parsed = report(document)
        for name in ("summary", "measurements", "hashes", "tables"):
            self.assertEqual(len(parsed.rows(name)), len(document[name]), name)

    def test_every_status_is_written_with_its_reason(self):
        rows = [
            summary_row(configuration=status, status=status, reason=f"because of {status}")
            for status in markup.STATUSES
        ]
        parsed = report({"summary": rows})
        for row, shown in zip(rows, parsed.rows("summary")):
            self.assertEqual(shown[6].split()[-1], row["status"])
            self.assertEqual(shown[7], row["reason"])
        not_measured = {(row[0], row[1].split()[-1], row[2], row[3]) for row in parsed.rows("not-measured")}
        self.assertEqual(not_measured, {("frazil", s, f"because of {s}", s) for s in markup.STATUSES if s != "ok"})

    def test_rows_with_the_same_cause_are_put_together(self):
        rows = [
            summary_row(status="absent", reason="no go", engine="iceberg_go", configuration=c, threads=t)
            for c in ("a", "b")
            for t in (1, 2)
        ]
        (row,) = report({"summary": rows}).rows("not-measured")
        self.assertEqual(row[3], "a, b")
        self.assertIn("2 combinations", row[4])

    def test_the_headline_is_the_default_beside_the_fastest_peer(self):
        seconds = lambda s: {"median": s, "min": s, "max": s}
        rows = [
            summary_row(configuration="64MiB", seconds=seconds(1.0)),
            summary_row(seconds=seconds(2.0)),
            summary_row(engine="slow", seconds=seconds(3.0)),
            summary_row(engine="quick", seconds=seconds(2.5), rss_peak_bytes=7 << 20),
            summary_row(engine="floor_arrow", seconds=seconds(0.5)),
            summary_row(engine="wrong", status="wrong_hash", seconds=seconds(0.1)),
        ]
        (row,) = report({"summary": rows}).rows("headline")
        self.assertEqual(row[5:9], ["2.00", "quick default", "0.000500", "7.00"])
        self.assertEqual([h["ours"]["seconds"]["median"] for h in series.headlines(rows)], [2.0])

    def test_a_block_without_frazil_has_a_headline_with_an_empty_side(self):
        (row,) = report({"summary": [summary_row(status="not_yet", seconds=None), summary_row(engine="polars")]}).rows(
            "headline"
        )
        self.assertEqual((row[4], row[6]), ("", "polars default"))


class ChartData(unittest.TestCase):
    def test_only_what_was_measured_is_drawn(self):
        document = sample()
        drawn = data_of(report(document))["rows"]
        measured = [row for row in document["summary"] if row["status"] == "ok"]
        self.assertEqual(
            [(row["set"], row["engine"], row["configuration"], row["rate"]) for row in drawn],
            [(row["set"], row["engine"], row["configuration"], row["rows_per_second"]) for row in measured],
        )

    def test_the_ratio_of_each_round_is_drawn(self):
        (row,) = data_of(report({"summary": [summary_row()]}))["rows"]
        self.assertEqual(row["peer"], {"median": 2.0, "min": 1.0, "max": 4.0, "rounds": [1.0, 2.0, 4.0]})
        self.assertIsNone(row["over"])

    def test_what_is_not_a_finite_number_is_not_drawn(self):
        for bad in (float("nan"), float("inf"), "12", True, None, [], {}):
            rows = [
                summary_row(
                    rows_per_second=bad,
                    rss_peak_bytes=bad,
                    seconds={"median": bad, "min": 1.0, "max": 2.0},
                    seconds_to_first_batch=bad,
                )
            ]
            (row,) = data_of(report({"summary": rows}))["rows"]
            self.assertEqual([row[name] for name in ("rate", "rss", "seconds", "first")], [None] * 4, bad)

    def test_time_against_size_takes_each_engines_fastest_configuration(self):
        document = sample()
        sizes = {(t["set"], t["codec"]): t["arrow_bytes"] for t in document["tables"]}
        expected = {}
        for row in document["summary"]:
            if row["status"] == "ok":
                key = (
                    row["set"],
                    row["codec"],
                    row["case"],
                    str(row["threads"]),
                    row["engine"],
                    sizes[row["set"], row["codec"]],
                )
                expected[key] = min(row["seconds"]["median"], expected.get(key, row["seconds"]["median"]))
        found = {
            (r["set"], r["codec"], r["case"], r["threads"], r["engine"], r["bytes"]): r["seconds"]["median"]
            for r in data_of(report(document))["sizes"]
        }
        self.assertEqual(found, expected)

    def test_sizes_of_one_kind_of_data_are_one_series(self):
        self.assertEqual(
            {row["set"]: row["series"] for row in series.size_rows(sample(), [])}["strings_500"], "strings"
        )

    def test_history_adds_other_sizes_of_the_same_machine(self):
        document = {
            "machine": {"cpu_model": "A", "cores": 2},
            "summary": [summary_row()],
            "tables": [{"set": "foreign", "codec": "zstd", "arrow_bytes": 100}],
        }

        def earlier(size, median, **changes):
            row = summary_row(seconds={"median": median, "min": median, "max": median})
            return {
                **copy.deepcopy(document),
                "summary": [row],
                "tables": [{"set": "foreign", "codec": "zstd", "arrow_bytes": size}],
                **changes,
            }

        history = [
            earlier(10, 0.1),
            earlier(10, 0.2),
            earlier(100, 9.0),
            earlier(50, 0.5, machine={"cpu_model": "B", "cores": 2}),
        ]
        found = {row["bytes"]: row["seconds"]["median"] for row in series.size_rows(document, history)}
        self.assertEqual(found, {100: 2.0, 10: 0.2})


class HostileText(unittest.TestCase):
    NASTY = [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" autofocus onfocus="alert(1)',
        "'><svg onload=alert(1)>",
        "<!--<script>",
        "{{data}} {{script}}",
        "&lt;",
        "\u2028\u2029",
        "\\u003c/script>",
        "]]>",
    ]

    @classmethod
    def setUpClass(cls):
        cls.plain = report(sample())
        cls.document = document = sample()
        for i, row in enumerate(document["summary"] + document["measurements"] + document["hashes"]):
            for name in ("engine", "configuration", "reason", "set", "codec", "case"):
                if row[name] is not None:
                    row[name] = f"{row[name]}{cls.NASTY[i % len(cls.NASTY)]}"
        document |= {
            "question": cls.NASTY[0],
            "job": cls.NASTY[1],
            "machine": {cls.NASTY[2]: cls.NASTY[0]},
            "versions": {"frazil": cls.NASTY[3]},
        }
        cls.parsed = report(document)

    def test_text_never_becomes_an_element_or_an_attribute(self):
        tags = [tag for tag, _ in self.parsed.elements]
        self.assertEqual(tags.count("script"), 3)
        self.assertLessEqual(set(tags), {tag for tag, _ in self.plain.elements})
        self.assertNotIn("img", tags)
        names = {name for _, attributes in self.parsed.elements for name in attributes}
        self.assertLessEqual(names, {name for _, attributes in self.plain.elements for name in attributes})
        shown = [row[4] for row in self.parsed.rows("summary")]
        self.assertEqual(shown, [row["engine"] for row in self.document["summary"]])

    def test_chart_data_comes_back_as_it_was(self):
        measured = [row["engine"] for row in self.document["summary"] if row["status"] == "ok"]
        self.assertEqual([row["engine"] for row in data_of(self.parsed)["rows"]], measured)
        self.assertNotIn("<", self.parsed.scripts[0])

    def test_only_the_pages_own_scripts_may_run_and_nothing_may_be_fetched(self):
        parsed = self.parsed
        (policy,) = [a["content"] for tag, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy"]
        allowed = set(re.findall(r"'(sha256-[^']+)'", policy))
        hashes = {
            "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            for script in parsed.scripts[1:]
        }
        self.assertEqual(allowed, hashes)
        self.assertTrue(policy.startswith("default-src 'none';"))
        self.assertNotIn("unsafe-eval", policy)
        self.assertNotIn("unsafe-inline", policy.split("style-src")[0])
        self.assertFalse(
            [a for _, a in parsed.elements if re.match(r"(https?:)?//", a.get("src") or a.get("href") or "")]
        )

    def test_what_cannot_be_encoded_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "in.json"), os.path.join(folder, "new", "out.html")
            with open(source, "w", encoding="utf-8") as file:
                json.dump({"summary": [summary_row(status="failed", reason="lone \ud800, NUL \0, bell \a")]}, file)
            with mock.patch.object(build, "plotting_library", lambda: LIBRARY), mock.patch.object(
                sys, "argv", ["build.py", source, out]
            ):
                build.main()
            with open(out, encoding="utf-8") as file:
                self.assertIn("lone ?, NUL \ufffd, bell \a", file.read())


class Filters(unittest.TestCase):
    def test_they_offer_each_value_once_and_open_on_the_first_case_and_the_most_threads(self):
        rows = [
            summary_row(**{"threads": t, "case": c, "set": s})
            for t in (2, 16, 1)
            for c in ("all", "two")
            for s in ("b", "a")
        ]
        options, chosen, select = {}, {}, None
        for tag, attributes in report({"summary": rows}).elements:
            if tag == "select":
                select = attributes["name"]
            elif tag == "option" and select:
                options.setdefault(select, []).append(attributes["value"])
                if "selected" in attributes:
                    chosen[select] = attributes["value"]
        self.assertEqual(
            {name: options[name] for name, _ in markup.FILTERS},
            {
                "set": ["*", "b", "a"],
                "codec": ["*", "zstd"],
                "case": ["*", "all", "two"],
                "threads": ["*", "2", "16", "1"],
            },
        )
        self.assertEqual(chosen, {"case": "all", "threads": "16"})

    def test_rows_carry_the_block_that_they_belong_to(self):
        parsed = report({"summary": [summary_row()]})
        rows = [a for tag, a in parsed.elements if tag == "tr" and "data-set" in a]
        self.assertEqual(len(rows), 2)  # of the headline and of the summary
        for row in rows:
            self.assertEqual([row[f"data-{name}"] for name in series.BLOCK], ["foreign", "zstd", "all_columns", "2"])


class OddDocuments(unittest.TestCase):
    def test_an_empty_document_says_that_it_is_empty(self):
        for document in ({}, {"summary": []}, {"summary": None, "machine": None, "measurements": None, "options": []}):
            parsed = report(document)
            self.assertIn("This document holds no measurements.", parsed.text)
            self.assertEqual(data_of(parsed), {"ours": "frazil", "rows": [], "sizes": []})

    def test_one_engine_only(self):
        for engine, headline in (("frazil", "0.000500"), ("polars", ""), ("floor_frazil", "none")):
            parsed = report({"summary": [summary_row(engine=engine, ratio_to_best_peer=None)]})
            self.assertEqual([row["engine"] for row in data_of(parsed)["rows"]], [engine])
            self.assertEqual(len(parsed.rows("summary")), 1)
            (row,) = parsed.rows("headline")
            self.assertEqual(row[4] if len(row) > 1 else row[0], headline)

    def test_an_interrupted_run_and_a_sample_are_marked(self):
        text = report({"summary": [summary_row()], "interrupted": True, "sample": "invented"}).text
        self.assertIn("interrupted", text)
        self.assertIn("A sample: invented", text)


class Figures(unittest.TestCase):
    def test_three_digits_and_thousands_apart(self):
        for value, expected in (
            (0, "0"),
            (1, "1.00"),
            (0.01234, "0.0123"),
            (12.34, "12.3"),
            (1234.5, "1,234"),
            (1e9, "1,000,000,000"),
            (None, ""),
            ("x", ""),
            (float("nan"), ""),
        ):
            self.assertEqual(markup.figure(value), expected)

    def test_which_side_of_one_is_told_in_words(self):
        self.assertIn('aria-label="faster"', markup.faster({"median": 1.2, "min": 1.0, "max": 1.5}))
        self.assertIn('aria-label="slower"', markup.faster({"median": 0.9, "min": 0.8, "max": 1.5}))
        self.assertEqual(markup.faster(None), "")


if __name__ == "__main__":
    unittest.main()
