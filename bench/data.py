"""Is the data there? Makes each data set once with bench/JOB/make_data.py and keeps it as long as its recipe stays."""

import dataclasses
import fcntl
import json
import os
import shutil
import subprocess

import machine

DISK_SLACK_BYTES = 1 << 30
RECIPE = "recipe.json"  # written last: a folder without it was never finished


class NoData(Exception):
    """The data cannot be made; the message says why."""


def folder_of(data, root):
    return os.path.join(root, f"{data.set}_{data.codec}_{data.files}x{data.rows // data.files}")


def is_made(data, root):
    return _made(data, folder_of(data, root)) is not None


def prepare(data, job_folder, root, python):
    """Returns {"path": what the engines open, "file_bytes": its size without metadata}. Raises NoData."""
    folder = folder_of(data, root)
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be making the same
        return _made(data, folder) or _make(data, folder, job_folder, root, python)


def _make(data, folder, job_folder, root, python):
    shutil.rmtree(folder, ignore_errors=True)
    free, needed = machine.disk_free_bytes(root), data.arrow_bytes + DISK_SLACK_BYTES
    if free < needed:
        raise NoData(f"too little disk in {root}: {free / 2**30:.1f} GiB free, {needed / 2**30:.1f} GiB needed")
    recipe = dataclasses.asdict(data)
    command = [python, os.path.join(job_folder, "make_data.py"), json.dumps(recipe), folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        reason = next((line for line in reversed(lines) if "Error" in line), lines[-1])  # some add hints below it
        raise NoData(f"make_data.py failed: {reason}")
    made = {"path": done.stdout.strip().splitlines()[-1], "file_bytes": _data_bytes(folder)}
    with open(os.path.join(folder, RECIPE), "w") as file:
        json.dump({"recipe": recipe, **made}, file)
    return made


def _made(data, folder):
    try:
        with open(os.path.join(folder, RECIPE)) as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return None
    if stamp.pop("recipe") != dataclasses.asdict(data) or not os.path.exists(stamp["path"]):
        return None
    return stamp


def _data_bytes(folder):
    return sum(
        os.path.getsize(os.path.join(parent, name))
        for parent, _, names in os.walk(folder)
        for name in names
        if os.path.basename(parent) != "metadata" and not name.endswith(".db")
    )
