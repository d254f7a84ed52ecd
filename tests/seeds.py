"""Which seeds a test of random data runs: always the same ones, unless FRAZIL_SEED names a first one.

A test that lands changes must not depend on the day, on how fast the machine is, nor on what a peer does with rows that
nobody has looked at yet. So the first seed is fixed, and so is how many follow: FRAZIL_TEST_SECONDS says about how long the
test may take, and the number is computed from it, not from a clock. `make interop` looks for what nobody has seen: there
FRAZIL_SEED comes from the date.
"""
import os

FIXED_FIRST = 1


def chosen(named, at_least, per_second):
    """The seeds that the command line names or, if it names none, the ones described above. Prints which.

    `per_second`: how many a slow machine does.
    """
    if named:
        return [int(text) for text in named]
    first = int(os.environ.get("FRAZIL_SEED") or FIXED_FIRST)
    count = max(at_least, int(per_second * float(os.environ.get("FRAZIL_TEST_SECONDS") or 20)))
    print(f"seeds {first} to {first + count - 1}", flush=True)
    return range(first, first + count)
