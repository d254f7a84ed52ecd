"""Did all engines deliver the same? Compares content hashes and row counts before anything is timed.

Each peer has one vote, whatever the number of its configurations; most votes are right, and of equally many those of
the peer that is listed first. Frazil has no vote: it is never right against all peers.
"""

from summary import is_peer


def judge(found):
    """Sets status and reason of each of `found`, which is what was delivered of one data set and case:
    [{engine, configuration, content_hash, rows, status, reason}]"""
    delivered = [h for h in found if h["status"] == "ok"]
    votes = {}
    for h in delivered:
        if is_peer(h["engine"]):
            votes.setdefault(_value(h), set()).add(h["engine"])
    if not votes:
        for h in delivered:
            h["reason"] = "no peer to compare with"
        return
    right = max(votes, key=lambda value: len(votes[value]))  # the first of the greatest
    for h in delivered:
        if _value(h) != right:
            h["status"] = "wrong_hash"
            h["reason"] = f"delivered {_text(_value(h))}, not {_text(right)} as {', '.join(sorted(votes[right]))}"


def _value(h):
    return h["content_hash"], h["rows"]


def _text(value):
    return f"{value[1]} rows with hash {value[0]}" if value[0] else f"{value[1]} rows"
