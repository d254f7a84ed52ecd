"""The report's tables and figures as HTML. Everything that comes from a document passes through text()."""

import html
import math

from series import BLOCK, OURS, number, spread

MIB = 2**20
FILTERS = tuple(zip(BLOCK, ("Data set", "Codec", "Case", "Threads")))
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


def text(value):
    """Escaped for element content and quoted attributes. NUL, which HTML forbids, is shown as a replacement sign."""
    return html.escape(str(value).replace("\0", "\ufffd"))


def table(name, columns, rows, caption):
    """A table in a box that scrolls, reachable by keyboard. Rows carry the block they belong to, for the filters."""
    head = "".join(f'<th scope="col"{number_class(column)}>{text(column[0])}</th>' for column in columns)
    body = "".join(
        f"<tr{block_attributes(row)}>"
        + "".join(f"<td{number_class(column)}>{column[1](row)}</td>" for column in columns)
        + "</tr>"
        for row in rows
    )
    if not rows:
        body = f'<tr class="none"><td colspan="{len(columns)}">none</td></tr>'
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}"><table id="{name}">'
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def number_class(column):
    return ' class="n"' if len(column) > 2 else ""


def block_attributes(row):
    attributes = "".join(f' data-{name}="{text(row[name])}"' for name in BLOCK if name in row)
    return attributes + (' class="ours"' if row.get("engine") == OURS else "")


def statuses():
    """The items of a <dl> that says what each status means."""
    return "".join(f"<dt>{status_mark(name)}</dt><dd>{text(means)}</dd>" for name, means in STATUSES.items())


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
    if not value:
        return ""
    median, low, high = (figure(value[name], scale) for name in ("median", "min", "max"))
    return f"{median} <small>[{low}–{high}]</small>"


def time_of(value):
    """Seconds, and microseconds of what takes less than a millisecond."""
    seconds = number(value)
    if seconds is None or seconds >= 1e-3:
        return figure(seconds)
    return f"{figure(seconds, 1e6)}\u00a0µs"


def time_range_of(value):
    value = spread(value)
    if not value:
        return ""
    median, low, high = (time_of(value[name]) for name in ("median", "min", "max"))
    return f"{median} <small>[{low}–{high}]</small>"


def median_time(row):
    return time_of((spread(row.get("seconds")) or {}).get("median"))


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


def listed(items):
    """One item as it is; more of them folded away."""
    if len(items) == 1:
        return text(items[0])
    return f"<details><summary>{len(items)} combinations</summary>{'<br>'.join(map(text, items))}</details>"


def name_of(row):
    return f"{text(row.get('engine'))} <small>{text(row.get('configuration'))}</small>"


# Columns are (title, cell's HTML of a row), and "n" behind them if the cells are numbers.
BLOCK_COLUMNS = [plain_column(label, name) for name, label in FILTERS]
ENGINE = plain_column("Engine", "engine")
CONFIGURATION = plain_column("Configuration", "configuration")
STATUS = ("Status", lambda row: status_mark(str(row.get("status"))))
REASON = ("Reason", lambda row: wrapped(row["reason"]) if row.get("reason") else "")
ROWS = figure_column("Rows", "rows", whole=True)
POOL_PEAK = figure_column("Pool peak, MiB", "pool_peak_bytes", 1 / MIB)
RSS_PEAK = figure_column("RSS peak, MiB", "rss_peak_bytes", 1 / MIB)
BYTES_READ = figure_column("Read, MB", "bytes_read", 1e-6)
ALLOCATIONS = figure_column("Allocations", "allocations", whole=True)
HEADLINE = [
    *BLOCK_COLUMNS,
    ("Frazil, M rows/s", of("ours", lambda row: figure(row.get("rows_per_second"), 1e-6)), "n"),
    ("peak RSS, MiB", of("ours", lambda row: figure(row.get("rss_peak_bytes"), 1 / MIB)), "n"),
    ("Best peer", of("peer", name_of)),
    ("M rows/s", of("peer", lambda row: figure(row.get("rows_per_second"), 1e-6)), "n"),
    ("peak RSS, MiB", of("peer", lambda row: figure(row.get("rss_peak_bytes"), 1 / MIB)), "n"),
    ("Best peer's time / Frazil's", of("ours", lambda row: faster(row.get("ratio_to_best_peer"))), "n"),
    ("Frazil, seconds", of("ours", median_time), "n"),
    ("Best peer, seconds", of("peer", median_time), "n"),
    ("Frazil's time / floor's", of("ours", lambda row: range_of(row.get("ratio_to_floor"))), "n"),
]
NOT_MEASURED = [
    ENGINE,
    STATUS,
    REASON,
    ("Configurations", lambda row: wrapped(", ".join(row["configurations"]))),
    ("Where", lambda row: listed(row["blocks"])),
]
SUMMARY = [
    *BLOCK_COLUMNS,
    ENGINE,
    CONFIGURATION,
    STATUS,
    REASON,
    figure_column("M rows/s", "rows_per_second", 1e-6),
    ("Seconds", lambda row: time_range_of(row.get("seconds")), "n"),
    range_column("First batch, ms", "seconds_to_first_batch", 1e3),
    POOL_PEAK,
    RSS_PEAK,
    BYTES_READ,
    ALLOCATIONS,
    ("Best peer's time / own", lambda row: faster(row.get("ratio_to_best_peer")), "n"),
    range_column("Own time / floor's", "ratio_to_floor"),
]
MEASUREMENTS = [
    *BLOCK_COLUMNS,
    ENGINE,
    CONFIGURATION,
    plain_column("Round", "round"),
    STATUS,
    REASON,
    ROWS,
    figure_column("Batches", "batches", whole=True),
    ("Seconds", lambda row: time_of(row.get("seconds")), "n"),
    figure_column("First batch, ms", "seconds_to_first_batch", 1e3),
    POOL_PEAK,
    RSS_PEAK,
    BYTES_READ,
    ALLOCATIONS,
]
HASHES = [
    *BLOCK_COLUMNS[:3],
    ENGINE,
    CONFIGURATION,
    ("Content hash", lambda row: f"<code>{text(row.get('content_hash') or '')}</code>"),
    ROWS,
    STATUS,
    REASON,
]
TABLES = [
    *BLOCK_COLUMNS[:2],
    ROWS,
    figure_column("Columns", "columns", whole=True),
    figure_column("Files", "files", whole=True),
    figure_column("In Arrow, MB", "arrow_bytes", 1e-6),
    figure_column("Files, MB", "file_bytes", 1e-6),
]
