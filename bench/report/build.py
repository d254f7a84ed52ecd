"""Builds one self-contained HTML page from a benchmark's result document.

usage: build.py RESULT.json OUT.html [--history HISTORY.jsonl]

The page loads nothing: charts are drawn in the browser by Vega, whose JavaScript comes with the PyPI package
vl-convert-python. Of the packages that ship a plotting library's JavaScript, Vega is small (0.9 MB; plotly 4.7 MB),
draws SVG with an accessible name on each mark (bokeh: one canvas), places labels without overlaps, is BSD licensed and
kept by a university group. Nothing minified is in this repository.

Everything in the document is hostile, an engine's error message above all. Three walls: text is escaped where it is
inserted; what charts need goes into a JSON block that cannot be closed from within; and the page's content security
policy runs only the two scripts whose hashes it names, and opens no connection.

HISTORY holds earlier documents, one a line; the chart of time against size takes other sizes of the same data sets,
measured on the same machine, from them. docs/benchmarks.md describes the documents.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys

import markup
import series
from markup import figure, table, text

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result")
    parser.add_argument("out")
    parser.add_argument("--history")
    options = parser.parse_args()
    with open(options.result, encoding="utf-8") as file:
        document = json.load(file)
    text = page(document, earlier_documents(options.history), plotting_library())
    os.makedirs(os.path.dirname(os.path.abspath(options.out)), exist_ok=True)
    # A lone surrogate in an engine's message cannot be encoded; it becomes a question mark.
    with open(options.out, "w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(text)


def plotting_library():
    """(JavaScript that defines window.vegaEmbed, version of Vega)"""
    try:
        import vl_convert
    except ImportError:
        sys.exit("report: vl-convert-python is missing; run this with the interpreter of the bench's environment")
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"), vl_convert.get_vega_version()


def earlier_documents(path):
    if not path or not os.path.exists(path):
        return []
    documents = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                documents.append(json.loads(line))
            except ValueError:  # cut short by a crash
                continue
    return documents


def page(document, earlier, library):
    """The page's text. `library` is what plotting_library() returns."""
    javascript, version = library
    ours = '"use strict";\n(() => {\n' + read("charts.js") + read("page.js") + "})();\n"
    scripts = [f"(() => {{{javascript}\n}})();", ours]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    summary, measurements, hash_rows, tables = (
        document.get(name) or [] for name in ("summary", "measurements", "hashes", "tables")
    )
    headline, not_measured = series.headlines(summary), series.not_measured(summary)
    parts = {
        "policy": f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "style": read("page.css"),
        "title": text(f"Frazil benchmark: job {document.get('job', '?')}"),
        "question": text(document.get("question") or ""),
        "facts": run_facts(document),
        "notices": notices(document),
        "filters": filters(summary),
        "headline": table("headline", markup.HEADLINE, headline, "Frazil's default beside the best peer"),
        "not_measured": table("not-measured", markup.NOT_MEASURED, not_measured, "What was not measured, and why"),
        "statuses": markup.statuses(),
        "summary": table("summary", markup.SUMMARY, summary, "All configurations: medians over the rounds"),
        "measurements": table("measurements", markup.MEASUREMENTS, measurements, "All measurements, round by round"),
        "hashes": table("hashes", markup.HASHES, hash_rows, "Content hashes, taken before anything was timed"),
        "tables": table("tables", markup.TABLES, tables, "Data sets"),
        "machine": definitions(document.get("machine")),
        "versions": definitions(document.get("versions")),
        "options": definitions(document.get("options")),
        "data": json_block(
            {
                "ours": series.OURS,
                "rows": series.chart_rows(summary),
                "sizes": series.size_rows(document, earlier),
            }
        ),
        "vega_version": text(version),
        "licences": text(read("LICENSES.txt")),
        "library": scripts[0],
        "script": scripts[1],
    }
    # One pass: what was inserted is never searched for placeholders.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], read("page.html"))


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def run_facts(document):
    machine, options = document.get("machine") or {}, document.get("options") or {}
    facts = [
        ("Started", document.get("started")),
        ("Size", document.get("size")),
        ("Rounds", options.get("rounds")),
        ("Machine", machine.get("cpu_model")),
        ("Cores", machine.get("cores")),
        ("Frazil", (document.get("versions") or {}).get(series.OURS)),
    ]
    return "".join(f"<div><dt>{name}</dt><dd>{text(value)}</dd></div>" for name, value in facts if value is not None)


def notices(document):
    found = []
    if document.get("sample"):
        found.append(f"A sample: {document['sample']}")
    if document.get("interrupted"):
        found.append("The run was interrupted: rounds and configurations are missing.")
    if not document.get("summary"):
        found.append("This document holds no measurements.")
    return "".join(f'<p class="notice">{text(notice)}</p>' for notice in found)


def filters(summary):
    """One <select> a dimension. It opens on the first case and the most threads, all data sets and codecs."""
    fields = []
    for name, label in markup.FILTERS:
        values = list(dict.fromkeys(str(row.get(name)) for row in summary))
        chosen = {"case": values[:1], "threads": sorted(values, key=lambda v: (len(v), v))[-1:]}.get(name, [])
        options = "".join(
            f'<option value="{text(v)}"{" selected" if v in chosen else ""}>{text(v)}</option>' for v in values
        )
        fields.append(f'<label>{label} <select name="{name}"><option value="*">all</option>{options}</select></label>')
    return "".join(fields)


def definitions(values):
    if not isinstance(values, dict) or not values:
        return "<p>not told</p>"
    items = "".join(f"<div><dt>{text(k)}</dt><dd>{text(plain(k, v))}</dd></div>" for k, v in values.items())
    return f"<dl>{items}</dl>"


def plain(name, value):
    """A fact of the machine or of the run in words."""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "–"
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items()) or "–"
    if name.endswith("_bytes") and series.number(value):
        return f"{figure(value, 2**-30)} GiB"
    return "not told" if value is None else value


def json_block(value):
    """JSON for a <script type="application/json">: without "<" nothing in it can end the element or open a comment."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


if __name__ == "__main__":
    main()
