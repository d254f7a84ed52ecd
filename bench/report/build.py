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
import html
import json
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = "frazil"
MIB = 2**20
FILTERS = (("set", "Data set"), ("codec", "Codec"), ("case", "Case"), ("threads", "Threads"))
BLOCK = tuple(name for name, _ in FILTERS)
STATUSES = {
    "ok": "measured, content hash right",
    "failed": "ended with an error",
    "killed": "ended by a signal or a limit",
    "wrong_hash": "delivered other values than the engines agree on, so it was not timed",
    "absent": "could not be had on this machine",
    "not_offered": "its API has no such knob",
    "not_yet": "Frazil cannot do this yet",
    "skipped": "too little disk or memory for it",
}


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
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def page(document, earlier, library):
    """The page's text. `library` is what plotting_library() returns."""
    javascript, version = library
    scripts = [f"(() => {{{javascript}\n}})();", read("page.js")]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    summary = document.get("summary") or []
    parts = {
        "policy": f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
        "style": read("page.css"),
        "title": text(f"Frazil benchmark: job {document.get('job', '?')}"),
        "question": text(document.get("question") or ""),
        "facts": run_facts(document),
        "notices": notices(document),
        "filters": filters(summary),
        "headline": table("headline", HEADLINE, headlines(summary), "What Frazil's default does beside the best peer"),
        "not_measured": table("not-measured", NOT_MEASURED, not_measured(summary), "What was not measured, and why"),
        "statuses": "".join(f"<dt>{status_mark(name)}</dt><dd>{text(means)}</dd>" for name, means in STATUSES.items()),
        "summary": table("summary", SUMMARY, summary, "All configurations: medians over the rounds"),
        "measurements": table("measurements", MEASUREMENTS, document.get("measurements") or [], "All measurements, round by round"),
        "hashes": table("hashes", HASHES, document.get("hashes") or [], "Content hashes, taken before anything was timed"),
        "tables": table("tables", TABLES, document.get("tables") or [], "Data sets"),
        "machine": definitions(document.get("machine")),
        "versions": definitions(document.get("versions")),
        "options": definitions(document.get("options")),
        "data": json_block({"ours": OURS, "rows": chart_rows(summary), "sizes": size_rows(document, earlier)}),
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


# ---- what the charts draw


def chart_rows(summary):
    """What the charts need of the rows that were measured. A killed or wrong one is in the tables only."""
    return [
        {
            **{name: str(row.get(name)) for name in BLOCK},
            "engine": str(row.get("engine")),
            "configuration": str(row.get("configuration")),
            "floor": is_floor(row),
            "rate": number(row.get("rows_per_second")),
            "rss": number(row.get("rss_peak_bytes")),
            "pool": number(row.get("pool_peak_bytes")),
            "seconds": spread(row.get("seconds")),
            "first": spread(row.get("seconds_to_first_batch")),
            "peer": spread(row.get("ratio_to_best_peer")),
            "over": spread(row.get("ratio_to_floor")),
        }
        for row in summary
        if row.get("status") == "ok"
    ]


def size_rows(document, earlier):
    """Time against size: of each engine its fastest configuration, for each data set and each size of it.

    Sizes are of the whole table as Arrow buffers. Earlier documents of the same machine add sizes that this one lacks;
    of two with the same size the later one counts.
    """
    best = {}
    for source in [document] + [entry for entry in reversed(earlier) if same_machine(entry, document)]:
        tables = {(t.get("set"), t.get("codec")): t for t in source.get("tables") or []}
        found = {}
        for row in source.get("summary") or []:
            size = tables.get((row.get("set"), row.get("codec")), {})
            seconds = spread(row.get("seconds"))
            if row.get("status") != "ok" or not seconds or not number(size.get("arrow_bytes")):
                continue
            key = tuple(row.get(name) for name in BLOCK) + (row.get("engine"), size["arrow_bytes"])
            if key not in best and (key not in found or seconds["median"] < found[key]["seconds"]["median"]):
                found[key] = {
                    **{name: str(row.get(name)) for name in BLOCK},
                    "series": re.sub(r"_\d+$", "", str(row.get("set"))),  # strings_5, strings_50, ... are one series
                    "engine": str(row.get("engine")),
                    "configuration": str(row.get("configuration")),
                    "floor": is_floor(row),
                    "bytes": size["arrow_bytes"],
                    "table_rows": number(size.get("rows")),
                    "seconds": seconds,
                }
        best.update(found)
    return list(best.values())


def same_machine(one, other):
    names = ("cpu_model", "cores")
    return one.get("job") == other.get("job") and [(one.get("machine") or {}).get(n) for n in names] == [
        (other.get("machine") or {}).get(n) for n in names]


def headlines(summary):
    """One row a block: Frazil's default (its fastest where that was not measured) beside the fastest peer."""
    blocks = {}
    for row in summary:
        blocks.setdefault(tuple(row.get(name) for name in BLOCK), []).append(row)
    rows = []
    for key, block in blocks.items():
        measured = [row for row in block if row.get("status") == "ok" and spread(row.get("seconds"))]
        fastest = sorted(measured, key=lambda row: spread(row["seconds"])["median"])
        ours = [row for row in fastest if row.get("engine") == OURS]
        default = [row for row in ours if row.get("configuration") == "default"]
        peers = [row for row in fastest if row.get("engine") != OURS and not is_floor(row)]
        if ours or peers:
            rows.append({**dict(zip(BLOCK, key)), "ours": (default or ours or [None])[0], "peer": (peers or [None])[0]})
    return rows


def not_measured(summary):
    """Rows that are not ok, those of an engine with the same cause put together."""
    groups = {}
    for row in summary:
        if row.get("status") != "ok":
            key = tuple(str(row.get(name)) for name in ("engine", "status", "reason"))
            configurations, blocks = groups.setdefault(key, ({}, {}))  # dicts are sets that keep their order
            configurations[str(row.get("configuration"))] = None
            blocks[" · ".join(str(row.get(name)) for name in BLOCK) + " threads"] = None
    return [{"engine": key[0], "status": key[1], "reason": key[2], "configurations": list(configurations), "blocks": list(blocks)}
            for key, (configurations, blocks) in groups.items()]


def is_floor(row):
    return str(row.get("engine")).startswith("floor_")


def number(value):
    """The value if it is a finite number, else None: JSON from a runner may hold anything."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) else None


def spread(value):
    """A spread of positive numbers ({median, min, max, maybe rounds}), else None."""
    if not isinstance(value, dict) or not all((number(value.get(name)) or 0) > 0 for name in ("median", "min", "max")):
        return None
    found = {name: value[name] for name in ("median", "min", "max")}
    if isinstance(value.get("rounds"), list):
        found["rounds"] = [n for n in value["rounds"] if (number(n) or 0) > 0]
    return found


# ---- HTML


def text(value):
    """Escaped for element content and for quoted attributes. NUL, which HTML forbids, is shown as a replacement sign."""
    return html.escape(str(value).replace("\0", "\ufffd"))


def json_block(value):
    """JSON for a <script type="application/json">: without "<" nothing in it can end the element or open a comment."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def run_facts(document):
    machine, options = document.get("machine") or {}, document.get("options") or {}
    facts = [("Started", document.get("started")), ("Size", document.get("size")), ("Rounds", options.get("rounds")),
             ("Machine", machine.get("cpu_model")), ("Cores", machine.get("cores")),
             ("Frazil", (document.get("versions") or {}).get(OURS))]
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
    for name, label in FILTERS:
        values = list(dict.fromkeys(str(row.get(name)) for row in summary))
        chosen = {"case": values[:1], "threads": sorted(values, key=lambda v: (len(v), v))[-1:]}.get(name, [])
        options = "".join(f'<option value="{text(v)}"{" selected" if v in chosen else ""}>{text(v)}</option>' for v in values)
        fields.append(f'<label>{label} <select name="{name}"><option value="*">all</option>{options}</select></label>')
    return "".join(fields)


def table(name, columns, rows, caption):
    """A table in a box that scrolls sideways, reachable by keyboard. Rows carry the block they belong to, for the filters."""
    head = "".join(f'<th scope="col"{number_class(column)}>{text(column[0])}</th>' for column in columns)
    body = "".join(
        f"<tr{block_attributes(row)}>" + "".join(f"<td{number_class(column)}>{column[1](row)}</td>" for column in columns) + "</tr>"
        for row in rows)
    if not rows:
        body = f'<tr class="none"><td colspan="{len(columns)}">none</td></tr>'
    return (f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}"><table id="{name}"><caption>{text(caption)}'
            f"</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def number_class(column):
    return ' class="n"' if len(column) > 2 else ""


def block_attributes(row):
    attributes = "".join(f' data-{name}="{text(row[name])}"' for name in BLOCK if name in row)
    return attributes + (' class="ours"' if row.get("engine") == OURS else "")


def definitions(values):
    if not isinstance(values, dict) or not values:
        return "<p>not told</p>"
    return "<dl>" + "".join(f"<div><dt>{text(name)}</dt><dd>{text(figure(value, 2**-30) + ' GiB' if name.endswith('_bytes') and number(value) else plain(value))}</dd></div>" for name, value in values.items()) + "</dl>"


def plain(value):
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "–"
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items()) or "–"
    return "not told" if value is None else value


def status_mark(status):
    """A sign beside the word: a status is never told by colour alone."""
    sign = {"ok": "✓", "not_offered": "–", "not_yet": "–", "absent": "–", "skipped": "–"}.get(status, "✗")
    known = status if status in STATUSES else "failed"
    return f'<span class="status {known}"><span aria-hidden="true">{sign}</span> {text(status)}</span>'


def wrapped(value):
    return f'<div class="wrapped">{text(value)}</div>'


def figure(value, scale=1.0, digits=3):
    """Three significant digits, or whole numbers with thousands apart; an empty cell of None."""
    value = number(value)
    if value is None:
        return ""
    value *= scale
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{min(decimals, 6)}f}"


def range_of(value, scale=1.0):
    value = spread(value)
    return f"{figure(value['median'], scale)} <small>[{figure(value['min'], scale)}–{figure(value['max'], scale)}]</small>" if value else ""


def faster(value):
    """A ratio with a sign for which side of 1 it is on."""
    found = spread(value)
    if not found:
        return ""
    name, sign, means = ("up", "▲", "faster") if found["median"] >= 1 else ("down", "▼", "slower")
    return f'<span class="{name}"><span role="img" aria-label="{means}">{sign}</span> {range_of(value)}</span>'


def plain_column(title, name):
    return title, lambda row: text("" if row.get(name) is None else row[name])


def figure_column(title, name, scale=1.0, whole=False):
    if whole:
        return title, lambda row: f"{row[name]:,.0f}" if number(row.get(name)) is not None else "", "n"
    return title, lambda row: figure(row.get(name), scale), "n"


def range_column(title, name, scale=1.0):
    return title, lambda row: range_of(row.get(name), scale), "n"


def of(side, show):
    """A cell of the headline table: `show` of its `side`, empty where that was not measured."""
    return lambda row: show(row[side]) if row[side] else ""


def name_of(row):
    return f"{text(row.get('engine'))} <small>{text(row.get('configuration'))}</small>"


# Columns are (title, cell's HTML of a row), and "n" behind them if the cells are numbers.
BLOCK_COLUMNS = [plain_column(label, name) for name, label in FILTERS]
STATUS_COLUMNS = [("Status", lambda row: status_mark(str(row.get("status")))),
                  ("Reason", lambda row: wrapped(row["reason"]) if row.get("reason") else "")]
ENGINE_COLUMNS = [plain_column("Engine", "engine"), plain_column("Configuration", "configuration")]
HEADLINE = BLOCK_COLUMNS + [
    ("Frazil, M rows/s", of("ours", lambda row: figure(row.get("rows_per_second"), 1e-6)), "n"),
    ("peak RSS, MiB", of("ours", lambda row: figure(row.get("rss_peak_bytes"), 1 / MIB)), "n"),
    ("Best peer", of("peer", name_of)),
    ("M rows/s", of("peer", lambda row: figure(row.get("rows_per_second"), 1e-6)), "n"),
    ("peak RSS, MiB", of("peer", lambda row: figure(row.get("rss_peak_bytes"), 1 / MIB)), "n"),
    ("Best peer's time / Frazil's", of("ours", lambda row: faster(row.get("ratio_to_best_peer"))), "n"),
    ("Frazil's time / floor's", of("ours", lambda row: range_of(row.get("ratio_to_floor"))), "n"),
]
NOT_MEASURED = ENGINE_COLUMNS[:1] + STATUS_COLUMNS + [
    ("Configurations", lambda row: wrapped(", ".join(row["configurations"]))),
    ("Where", lambda row: text(row["blocks"][0]) if len(row["blocks"]) == 1 else
     f"<details><summary>{len(row['blocks'])} combinations</summary>{'<br>'.join(text(block) for block in row['blocks'])}</details>")]
SUMMARY = BLOCK_COLUMNS + ENGINE_COLUMNS + STATUS_COLUMNS + [
    figure_column("M rows/s", "rows_per_second", 1e-6), range_column("Seconds", "seconds"), range_column("First batch, ms", "seconds_to_first_batch", 1e3),
    figure_column("Pool peak, MiB", "pool_peak_bytes", 1 / MIB), figure_column("RSS peak, MiB", "rss_peak_bytes", 1 / MIB),
    figure_column("Read, MB", "bytes_read", 1e-6), figure_column("Allocations", "allocations", whole=True),
    ("Best peer's time / own", lambda row: faster(row.get("ratio_to_best_peer")), "n"), range_column("Own time / floor's", "ratio_to_floor")]
MEASUREMENTS = BLOCK_COLUMNS + ENGINE_COLUMNS + [plain_column("Round", "round")] + STATUS_COLUMNS + [
    figure_column("Rows", "rows", whole=True), figure_column("Batches", "batches", whole=True), figure_column("Seconds", "seconds"),
    figure_column("First batch, ms", "seconds_to_first_batch", 1e3), figure_column("Pool peak, MiB", "pool_peak_bytes", 1 / MIB),
    figure_column("RSS peak, MiB", "rss_peak_bytes", 1 / MIB), figure_column("Read, MB", "bytes_read", 1e-6),
    figure_column("Allocations", "allocations", whole=True)]
HASHES = BLOCK_COLUMNS[:3] + ENGINE_COLUMNS + [("Content hash", lambda row: f"<code>{text(row.get('content_hash') or '')}</code>"),
                                               figure_column("Rows", "rows", whole=True)] + STATUS_COLUMNS
TABLES = BLOCK_COLUMNS[:2] + [figure_column("Rows", "rows", whole=True), figure_column("Columns", "columns", whole=True),
                              figure_column("Files", "files", whole=True), figure_column("In Arrow, MB", "arrow_bytes", 1e-6),
                              figure_column("Files, MB", "file_bytes", 1e-6)]


if __name__ == "__main__":
    main()
