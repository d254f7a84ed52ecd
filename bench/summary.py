"""What do the measurements say? Medians and ranges, and the ratios to the best peer and to the floor, round by round.

A ratio compares times of one round only, for a machine's speed drifts from round to round. Its median and range are
taken over the rounds in which both sides were measured.
"""

import statistics

OURS = "frazil"
FLOORS = ("floor_frazil", "floor_arrow")  # the first that ran in a round is that round's floor
BLOCK = ("set", "codec", "case", "threads")
ROW = BLOCK + ("engine", "configuration")

# From here on a status tells that the run as a whole did not do what it was asked to.
BAD_STATUSES = ("failed", "killed", "wrong_hash", "skipped")


def is_peer(engine):
    return engine != OURS and engine not in FLOORS


def summarize(measurements):
    """One row for each engine and configuration of each block, in the order in which they first appear."""
    blocks = _grouped(measurements, BLOCK)
    return [_row(block, row) for block in blocks.values() for row in _grouped(block, ROW).values()]


def best_peer_seconds(block):
    """{round: the shortest time of any configuration of any peer in it}"""
    return _shortest(m for m in block if is_peer(m["engine"]))


def floor_seconds(block):
    """{round: the time of our own floor program in it, or of Arrow's where ours did not run}"""
    seconds = {}
    for floor in reversed(FLOORS):
        seconds.update(_shortest(m for m in block if m["engine"] == floor))
    return seconds


def spread(values):
    """Median, least and greatest; None of no values."""
    values = [value for value in values if value is not None]
    return {"median": statistics.median(values), "min": min(values), "max": max(values)} if values else None


def ratio(pairs):
    """The spread of above / below over {round: (above, below)}, with the ratios in the order of the rounds."""
    rounds = [round(above / below, 4) for _, (above, below) in sorted(pairs.items()) if below]
    return {**spread(rounds), "rounds": rounds} if rounds else None


def _row(block, measurements):
    done = [m for m in measurements if m["status"] == "ok"]
    bad = next((m for m in measurements if m["status"] != "ok"), None)
    own = _shortest(done)
    best, floor = best_peer_seconds(block), floor_seconds(block)
    seconds = spread(own.values())
    rows = _most(done, "rows")
    return {
        **{name: measurements[0][name] for name in ROW},
        "status": bad["status"] if bad else "ok",
        "reason": bad.get("reason") if bad else None,
        "rounds": len(done),
        "rows": rows,
        "rows_per_second": round(rows / seconds["median"]) if rows and seconds and seconds["median"] else None,
        "seconds": seconds,
        "seconds_to_first_batch": spread([m.get("seconds_to_first_batch") for m in done]),
        "pool_peak_bytes": _most(done, "pool_peak_bytes"),
        "rss_peak_bytes": _most(done, "rss_peak_bytes"),
        "bytes_read": _most(done, "bytes_read"),
        "bytes_written": _most(done, "bytes_written"),
        "allocations": _most(done, "allocations"),
        "ratio_to_best_peer": ratio({n: (best[n], own[n]) for n in own if n in best}),
        "ratio_to_floor": ratio({n: (own[n], floor[n]) for n in own if n in floor}),
    }


def _grouped(measurements, names):
    groups = {}
    for m in measurements:
        groups.setdefault(tuple(m[name] for name in names), []).append(m)
    return groups


def _shortest(measurements):
    seconds = {}
    for m in measurements:
        if m["status"] == "ok":
            seconds[m["round"]] = min(m["seconds"], seconds.get(m["round"], m["seconds"]))
    return seconds


def _most(measurements, name):
    return max((m[name] for m in measurements if m.get(name) is not None), default=None)
