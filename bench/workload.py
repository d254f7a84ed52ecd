"""What is measured: data sets, blocks, contenders. A job (bench/JOB/job.py) describes itself in these words.

A block is what is compared: one data set, one case, one number of threads, and all contenders, round by round.
"""

from dataclasses import dataclass, field

import machine


@dataclass(frozen=True)
class DataSet:
    """What bench/JOB/make_data.py makes. All of it is the recipe: data of another recipe is made anew."""

    set: str
    codec: str
    rows: int
    columns: int
    files: int
    arrow_row_bytes: int  # about; for the checks of disk and memory
    version: int = 1  # raised when make_data.py makes other bytes from the same words

    @property
    def name(self):
        return f"{self.set}/{self.codec}"

    @property
    def arrow_bytes(self):
        return self.rows * self.arrow_row_bytes


@dataclass(frozen=True)
class Contender:
    """An engine in one configuration, or why it does not run."""

    engine: str
    configuration: str
    command: tuple = ()
    hash_command: tuple = ()  # the same, and prints content_hash and rows; empty: not hashed (the floor)
    status: str = "ok"
    reason: str | None = None
    seconds: float = 1.0  # a guess of a whole process, for the estimate


@dataclass(frozen=True)
class Block:
    data: DataSet
    case: str
    threads: int
    contenders: tuple = field(repr=False)

    @property
    def names(self):
        return {"set": self.data.set, "codec": self.data.codec, "case": self.case, "threads": self.threads}


def python_of(engines):
    """The interpreter of the peers that are Python programs; None without such."""
    return next((e["command"][0] for e in engines if e.get("command", ("",))[-1].endswith(".py")), None)


def selected(name, wanted):
    """Is `name` (foreign/zstd, all_columns) among the wanted (foreign stands for all its codecs)? None wanted: all."""
    return not wanted or name in wanted or name.split("/")[0] in wanted


def estimate_seconds(blocks, rounds):
    """How long will hashes and rounds take? A contender runs once to warm up and `rounds` times; a hash is two."""
    hashed = set()
    seconds = 0.0
    for block in blocks:
        for contender in block.contenders:
            if contender.status != "ok":
                continue
            seconds += contender.seconds * (rounds + 1)
            key = (block.data, block.case, contender.engine, contender.configuration)
            if contender.hash_command and key not in hashed:
                hashed.add(key)
                seconds += 2 * contender.seconds
    return seconds


def default_threads():
    """One, then all cores."""
    return sorted({1, machine.cores()})
