"""What do the charts and the short tables of the report take from a result document?

Values of a document may be anything that JSON can hold: number() and spread() let through what can be drawn.
"""

import math
import re

OURS = "frazil"
BLOCK = ("set", "codec", "case", "threads")  # what is compared with each other: one panel, one headline


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
        (other.get("machine") or {}).get(n) for n in names
    ]


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
    return [
        {
            "engine": key[0],
            "status": key[1],
            "reason": key[2],
            "configurations": list(configurations),
            "blocks": list(blocks),
        }
        for key, (configurations, blocks) in groups.items()
    ]


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
