"""Where do results go? One document for the newest run of each job and size, its report, and the history of all runs.

build/bench/results/JOB-SIZE.json, .html       the newest
build/bench/history.jsonl                      every document, one a line
"""

import json
import os
import subprocess
import sys

from peers import build as peers

HERE = os.path.dirname(os.path.abspath(__file__))
HISTORY = "history.jsonl"


def path_of(document, out):
    return os.path.join(out, "results", f"{document['job']}-{document['size']}.json")


def save(document, out):
    """Writes the whole document; a reader sees the old one or the new one. Returns its path."""
    path = path_of(document, out)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.part", "w") as file:
        json.dump(document, file)
        file.write("\n")
    os.replace(f"{path}.part", path)
    return path


def append_to_history(document, out):
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, HISTORY), "a") as file:
        file.write(json.dumps(document) + "\n")


def history(out):
    """All documents, oldest first. A line that a crash cut short is left out."""
    documents = []
    try:
        with open(os.path.join(out, HISTORY)) as file:
            for line in file:
                try:
                    documents.append(json.loads(line))
                except ValueError:
                    continue
    except FileNotFoundError:
        pass
    return documents


def write_report(path, out):
    """The HTML report beside the document. Returns its path, or None after saying what is wrong."""
    html = path.removesuffix(".json") + ".html"
    try:
        python = peers.interpreter("report")
    except peers.Absent as reason:
        print(f"bench: no HTML report: {reason}", file=sys.stderr)
        return None
    command = [python, os.path.join(HERE, "report", "build.py"), path, html, "--history", os.path.join(out, HISTORY)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        print(f"bench: no HTML report: {said[-1]}", file=sys.stderr)
        return None
    return html
