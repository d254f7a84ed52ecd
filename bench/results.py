"""Where do results go? One document for the newest run of each job and size, its report, and the history of all runs.

  build/bench/results/JOB-SIZE.json, .html       the newest
  build/bench/history.jsonl                      every document, one a line
"""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


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
    with open(os.path.join(out, "history.jsonl"), "a") as file:
        file.write(json.dumps(document) + "\n")


def history(out):
    """All documents, oldest first. A line that a crash cut short is left out."""
    documents = []
    try:
        with open(os.path.join(out, "history.jsonl")) as file:
            for line in file:
                try:
                    documents.append(json.loads(line))
                except ValueError:
                    continue
    except FileNotFoundError:
        pass
    return documents


def write_report(path, python):
    """The HTML report beside the document, made by an interpreter of the peers' environment. Returns its path, or None
    after saying what is wrong."""
    html = path.removesuffix(".json") + ".html"
    done = subprocess.run([python or sys.executable, os.path.join(HERE, "report", "build.py"), path, html], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        print(f"bench: no HTML report: {said[-1]}", file=sys.stderr)
        return None
    return html
