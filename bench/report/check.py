"""Does the report show what its document says? Opens it in a real headless Chromium and counts.

usage: check.py [RESULT.json] [--out FOLDER] [--report FILE.html]     needs the interpreter of the environment `report`

Builds the report of RESULT.json (default: tests/sample_result.json) into FOLDER (default: build/bench/report), unless
--report names one that is there already. Fails on any error or warning of the page, on any request but for the page
itself, and where marks, colours or table rows are not those that this file counts in the document, on its own, for each
choice of filters. Looks at both colour schemes and at a narrow screen, and leaves screenshots of them in FOLDER.
Without a Chromium it prints its skip and exits 0.
"""

import argparse
import base64
import json
import os
import subprocess
import sys

import chromium

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BLOCK = ("set", "codec", "case", "threads")
CHARTS = ("memory", "peer", "over", "first", "size")

# What the page shows, read from what was drawn and not from page.js.
COUNT_MARKS = """(() => {
  const ours = getComputedStyle(document.documentElement).getPropertyValue("--ours").trim();
  const all = (selector) => [...document.querySelectorAll(selector)];
  // Drawn for another width than its box has, so that it is cut off or made smaller.
  const does_not_fit = (svg) => Math.abs(svg.getAttribute("width") - svg.closest("figure > div").clientWidth) > 2;
  const counted = {};
  for (const chart of %s) {
    const marks = (name, tag = "*") => all(`#${chart} .panel svg .mark-${tag}.${name} > *`);
    const points = [...marks("points", "symbol"), ...marks("medians", "symbol"), ...marks("medians", "rule")];
    const is_highlighted = (mark) => [mark.getAttribute("fill"), mark.getAttribute("stroke")].includes(ours);
    counted[chart] = {
      panels: all(`#${chart} .panel svg.marks`).length,
      points: points.length,
      ours: points.filter((mark) => mark.getAttribute("aria-label").startsWith("frazil ")).length,
      highlighted: points.filter(is_highlighted).length,
      rounds: marks("rounds", "symbol").length,
      floors: marks("floors", "rule").length,
      ones: marks("one", "rule").length,
      axis_titles: all(`#${chart} .role-axis-title text`).length,
      misfits: all(`#${chart} .panel svg.marks`).filter(does_not_fit).length,
    };
  }
  counted.legend = all("#legend > span").map((entry) => entry.textContent).sort().join(", ");
  for (const table of all("table")) {
    counted[table.id] = table.querySelectorAll("tbody tr:not([hidden], .none)").length;
  }
  return counted;
})()"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", nargs="?", default=os.path.join(ROOT, "bench", "tests", "sample_result.json"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "report"))
    parser.add_argument("--report")
    options = parser.parse_args()
    program, why_not = chromium.find()
    if not program:
        print(f"check of the report: skipped: {why_not}")
        return 0
    with open(options.result, encoding="utf-8") as file:
        document = json.load(file)
    os.makedirs(options.out, exist_ok=True)
    report = options.report
    if not report:
        report = os.path.join(options.out, "report.html")
        build(options.result, report)
    failures = look(program, os.path.abspath(report), document, options.out)
    if not options.report:
        failures += look_at_hostile(program, document, options.out)
    for failure in failures:
        print(f"check of the report: FAILED: {failure}")
    if not failures:
        print(f"check of the report: passed; screenshots in {os.path.relpath(options.out)}")
    return 1 if failures else 0


def build(result, report):
    if subprocess.run([sys.executable, os.path.join(HERE, "build.py"), result, report]).returncode:
        sys.exit("check of the report: FAILED: the report could not be built")


def look(program, report, document, out):
    failures = []
    with chromium.Page(program) as page:
        try:
            set_screen(page, "light", 1400)
            page.call("Page.navigate", url=f"file://{report}")
            page.wait_until("document.documentElement?.dataset.drawn")
            choice = chosen(page)
            compare(page, document, choice, "as it opens", failures)
            screenshot(page, out, "light", 1400)
            tab_order(page, failures)
            for changes in filter_changes(document):
                choice = {**choice, **changes}
                redraw(
                    page,
                    "".join(
                        f"document.forms.filters.elements[{json.dumps(name)}].value = {json.dumps(value)};"
                        for name, value in changes.items()
                    )
                    + "document.forms.filters.dispatchEvent(new Event('change'))",
                )
                compare(page, document, choice, f"after the filters were set to {changes}", failures)
            for scheme, width in (("dark", 1400), ("dark", 390), ("light", 390)):
                set_screen(page, scheme, width)
                redraw(page, "document.forms.filters.dispatchEvent(new Event('change'))")
                compare(page, document, choice, f"in {scheme} at {width} pixels", failures)
                screenshot(page, out, scheme, width)
                if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
                    failures.append(f"at {width} pixels the page is {wide} wide")
        except RuntimeError as error:
            failures.append(str(error))
        failures += page.problems
        failures += [
            f"the page asked for {url[:200]}"
            for url in page.requests
            if url != f"file://{report}" and not url.startswith("data:")
        ]
    return list(dict.fromkeys(failures))


def look_at_hostile(program, document, out):
    """A report of names that try to break out of where they are put: it must show them as they are, and run nothing."""
    hostile = hostile_document(document)
    source, report = os.path.join(out, "hostile.json"), os.path.join(out, "hostile.html")
    with open(source, "w", encoding="utf-8") as file:
        json.dump(hostile, file)
    build(source, report)
    failures = []
    with chromium.Page(program) as page:
        try:
            page.call("Page.navigate", url=f"file://{report}")
            page.wait_until("document.documentElement?.dataset.drawn")
            compare(page, hostile, chosen(page), "of hostile names", failures)
            if page.evaluate(
                "window.broken || document.images.length + document.querySelectorAll('script').length - 3"
            ):
                failures.append("a hostile name became an element or ran")
            shown = set(
                page.evaluate("[...document.querySelectorAll('#summary tbody td')].map((cell) => cell.textContent)")
            )
            if (
                missing := {row[name] for row in hostile["summary"] for name in ("engine", "configuration", "set")}
                - shown
            ):
                failures.append(f"hostile names are not shown as they are: {sorted(missing)}")
        except RuntimeError as error:
            failures.append(str(error))
        failures += page.problems
    return [f"hostile document: {failure}" for failure in dict.fromkeys(failures)]


def hostile_document(document):
    """The first block of a document; its data set, peers, configurations and reasons have hostile names."""
    names = [
        "</script><script>broken=1</script>",
        "<img src=x onerror=broken=1>",
        "<!--<script>",
        "'; broken=1; '",
        '"><svg onload=broken=1>',
        "{{data}}",
        "datum.engine",
        "&lt;b&gt; \u2028 \u202e",
        "${broken=1}",
        "__proto__",
        "constructor",
    ]
    first = block_of(document["summary"][0])
    hostile = {
        **document,
        "question": names[0],
        "machine": {names[1]: names[0]},
        "measurements": [],
        "hashes": [],
        "tables": [],
    }
    hostile["summary"] = []
    engines = {}
    for row in document["summary"]:
        if block_of(row) == first:
            engine = (
                row["engine"]
                if row["engine"] == "frazil" or row["engine"].startswith("floor_")
                else engines.setdefault(row["engine"], names[len(engines) % len(names)])
            )
            name = names[len(hostile["summary"]) % len(names)]
            hostile["summary"].append(
                {
                    **row,
                    "set": names[0],
                    "engine": engine,
                    "configuration": f"{row['configuration']} {name}",
                    "reason": name,
                }
            )
    return hostile


def chosen(page):
    """The filters' values."""
    return json.loads(
        page.evaluate("JSON.stringify(Object.fromEntries(new FormData(document.getElementById('filters'))))")
    )


def compare(page, document, choice, when, failures):
    expected, found = expected_marks(document, choice), page.evaluate(COUNT_MARKS % json.dumps(CHARTS))
    for name, count in expected.items():
        shown = found.get(name)
        if isinstance(count, dict) and isinstance(shown, dict):
            wrong = ", ".join(
                f"{part}: {shown.get(part)} instead of {n}" for part, n in count.items() if shown.get(part) != n
            )
        else:
            wrong = f"{shown} instead of {count}" if shown != count else ""
        if wrong:
            failures.append(f"{when}: {name}: {wrong}")


def filter_changes(document):
    """One block alone, a case without some of the engines, the other memory, then everything."""
    blocks = list(dict.fromkeys(tuple(str(row[name]) for name in BLOCK) for row in document["summary"]))
    everything = dict.fromkeys(BLOCK, "*")
    return [
        dict(zip(BLOCK, blocks[0])),
        {**everything, "case": blocks[-1][2]},
        {"memory": "pool"},
        {**everything, "memory": "rss"},
    ]


def expected_marks(document, choice):
    """What the page must show of this document for these filters."""

    def is_chosen(row):
        return all(choice[name] == "*" or name not in row or str(row[name]) == choice[name] for name in BLOCK)

    measured = [row for row in document["summary"] if row["status"] == "ok" and is_chosen(row)]
    floors = [row for row in measured if row["engine"].startswith("floor_")]
    others = [row for row in measured if row not in floors]
    with_memory = [row for row in others if row[f"{choice['memory']}_peak_bytes"] and row["rows_per_second"]]
    memory_panels = blocks_of(with_memory)
    marks = {
        "memory": marks_of(with_memory, BLOCK, floors=sum(block_of(row) in memory_panels for row in floors)),
        "first": marks_of([row for row in measured if row["seconds_to_first_batch"]], BLOCK),
        "size": marks_of(fastest_of_each_engine(document, measured), BLOCK[1:]),
    }
    for chart, field in (("peer", "ratio_to_best_peer"), ("over", "ratio_to_floor")):
        rows = [row for row in others if row[field]]
        marks[chart] = marks_of(
            rows, BLOCK, rounds=sum(len(row[field]["rounds"]) for row in rows), ones=len(blocks_of(rows))
        )
    for name in ("summary", "measurements", "hashes", "tables"):
        marks[name] = sum(map(is_chosen, document.get(name, [])))
    marks["not-measured"] = len(
        {(row["engine"], row["status"], row["reason"]) for row in document["summary"] if row["status"] != "ok"}
    )
    marks["legend"] = ", ".join(sorted({row["engine"] for row in document["summary"] if row["status"] == "ok"}))
    marks["headline"] = len(blocks_of([row for row in others if row["seconds"]]))
    return marks


def marks_of(rows, by, **others):
    """Every axis that measures something must say what (the other axis of a strip names its rows)."""
    ours, panels = sum(row["engine"] == "frazil" for row in rows), len(
        {tuple(row[name] for name in by) for row in rows}
    )
    titles = panels if "ones" in others or by == BLOCK and "floors" not in others else 2 * panels
    return {
        "panels": panels,
        "points": len(rows),
        "ours": ours,
        "highlighted": ours,
        "rounds": 0,
        "floors": 0,
        "ones": 0,
        "axis_titles": titles,
        "misfits": 0,
        **others,
    }


def block_of(row):
    return tuple(row[name] for name in BLOCK)


def blocks_of(rows):
    return {block_of(row) for row in rows}


def fastest_of_each_engine(document, measured):
    sized = {(table["set"], table["codec"]) for table in document.get("tables", []) if table.get("arrow_bytes")}
    fastest = {}
    for row in sorted(measured, key=lambda row: row["seconds"]["median"] if row["seconds"] else 0):
        if row["seconds"] and (row["set"], row["codec"]) in sized:
            fastest.setdefault(block_of(row) + (row["engine"],), row)
    return list(fastest.values())


def tab_order(page, failures):
    """The skip link comes first; every filter and every table that scrolls is reached by the Tab key alone."""
    page.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(60):
        page.key("Tab", 9)
        reached.append(
            page.evaluate("(e => e.name || e.className || e.firstElementChild?.id || '')(document.activeElement)")
        )
    missing = {*BLOCK, "memory", "scroll"} - set(reached)
    if reached[0] != "skip" or missing:
        failures.append(f"Tab reaches first {reached[0]!r}, and never {sorted(missing)}")


def set_screen(page, scheme, width):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)


def redraw(page, action):
    """Does something that makes the page draw its charts again, and waits for the end of the drawing."""
    page.evaluate(f"delete document.documentElement.dataset.drawn; {action}")
    page.wait_until("document.documentElement.dataset.drawn")


def screenshot(page, out, scheme, width):
    height = page.evaluate("document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
    image = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    with open(os.path.join(out, f"{scheme}-{width}.png"), "wb") as file:
        file.write(base64.b64decode(image["data"]))


if __name__ == "__main__":
    sys.exit(main())
