"""What does one process do? Runs a command once, watches its memory, and says how it ended.

The peak of memory is that of the whole process tree, in bytes of resident set:
  - one process: the kernel's high-water mark. wait4() gives it exactly, but never less than the mark of the runner that
    forked it (exec keeps the greater one); up to that mark the last sampled VmHWM of /proc/PID/status counts, which is
    at most SAMPLE_SECONDS old.
  - a process with children: the greatest sum of their VmRSS among the samples, where that is more.
Pages that the processes of a tree share are counted in each.
"""

import json
import os
import selectors
import signal
import subprocess
import time

SAMPLE_SECONDS = 0.01
TREE_EVERY = 5  # samples between two searches for children
RUNNER_MARK_SLACK = 2 << 20  # bytes; the kernel counts a process's pages in batches
OUTPUT_MAX = 1 << 20  # bytes of stdout; a runner prints one line
REASON_MAX = 400  # characters

# What a runner may answer instead of figures.
ANSWERS = ("not_offered", "not_yet")


def measure(command, timeout_seconds, environment=None):
    """Runs `command` to its end or for `timeout_seconds`. Returns a dict that has

      status, reason                                         ok, failed, killed, not_offered or not_yet
      process_seconds, cpu_seconds, rss_peak_bytes           measured here
      the figures that the command printed, if it is ok      a JSON object on its last line of stdout

    Nothing that the command started lives on, also when an exception (Ctrl-C) passes through.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
    except OSError as error:
        return {"status": "failed", "reason": f"cannot be started: {error}"}
    output = _Output(process)
    memory = _TreeMemory(process.pid)
    killed_because = None
    usage = None
    try:
        while True:
            output.read(SAMPLE_SECONDS)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            memory.sample()
            if killed_because is None:
                if time.monotonic() - started > timeout_seconds:
                    killed_because = ("killed", f"no result within {timeout_seconds:g} s")
                elif output.too_long:
                    killed_because = ("failed", f"printed more than {OUTPUT_MAX} bytes")
                if killed_because:
                    _kill_group(process.pid)
        seconds = time.monotonic() - started
    finally:
        _kill_group(process.pid)
        if process.returncode is None:
            process.wait()
        output.close()
    measured = {
        "process_seconds": round(seconds, 6),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 6),
        "rss_peak_bytes": memory.peak_bytes(usage.ru_maxrss * 1024),
    }
    if killed_because:
        return {"status": killed_because[0], "reason": killed_because[1], **measured}
    return _outcome(process.returncode, output, measured)


def _outcome(returncode, output, measured):
    if returncode < 0:
        hint = " (out of memory?)" if returncode == -signal.SIGKILL else ""
        return {"status": "killed", "reason": f"signal {-returncode}{hint}{_said(output.stderr)}", **measured}
    if returncode > 0:
        return {"status": "failed", "reason": f"exit status {returncode}{_said(output.stderr)}", **measured}
    lines = output.stdout.decode(errors="replace").strip().splitlines()
    try:
        printed = json.loads(lines[-1]) if lines else None
    except ValueError:
        printed = None
    if not isinstance(printed, dict):
        return {
            "status": "failed",
            "reason": f"printed no JSON object: {lines[-1][:100]!r}" if lines else "printed nothing",
            **measured,
        }
    for answer in ANSWERS:
        if answer in printed:
            return {"status": answer, "reason": str(printed[answer])[:REASON_MAX], **measured}
    return {"status": "ok", "reason": None, **printed, **measured}


def _said(stderr):
    """The last line of stderr, where programs say why they gave up."""
    lines = [line for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return f": {lines[-1].strip()[:REASON_MAX]}" if lines else ""


def _kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class _Output:
    """stdout up to OUTPUT_MAX bytes and the end of stderr, read while the process runs so that it never blocks."""

    def __init__(self, process):
        self.stdout = b""
        self.stderr = b""
        self._pipes = [process.stdout, process.stderr]
        self._selector = selectors.DefaultSelector()
        for name, pipe in zip(("stdout", "stderr"), self._pipes):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, name)

    @property
    def too_long(self):
        return len(self.stdout) > OUTPUT_MAX

    def read(self, timeout_seconds):
        """Takes what is there; waits for it up to `timeout_seconds`."""
        if not self._selector.get_map():
            time.sleep(timeout_seconds)
            return
        for key, _ in self._selector.select(timeout_seconds):
            self._take(key.data, key.fileobj)

    def close(self):
        """Takes what is left in the pipes."""
        for key in list(self._selector.get_map().values()):
            while self._take(key.data, key.fileobj) and not self.too_long:
                pass
        for pipe in self._pipes:
            pipe.close()
        self._selector.close()

    def _take(self, name, pipe):
        try:
            data = os.read(pipe.fileno(), 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(pipe)
        elif name == "stderr":
            self.stderr = (self.stderr + data)[-(1 << 14) :]
        elif not self.too_long:
            self.stdout += data
        return bool(data)


class _TreeMemory:
    """The resident memory of a process and all that it started, by samples."""

    def __init__(self, pid):
        self._root = pid
        self._tree = [pid]
        self._samples = 0
        self._mark = 0  # VmHWM of the root
        self._sum = 0  # the greatest sum of VmRSS over the tree

    def sample(self):
        if self._samples % TREE_EVERY == 0:
            self._tree = _descendants(self._root)
        self._samples += 1
        self._mark = max(self._mark, _status_bytes(self._root, "VmHWM"))
        if len(self._tree) > 1:
            self._sum = max(self._sum, sum(_status_bytes(pid, "VmRSS") for pid in self._tree))

    def peak_bytes(self, reported):
        """`reported`: the kernel's mark of the greatest single process of the tree."""
        exact = reported if reported > _status_bytes(os.getpid(), "VmHWM") + RUNNER_MARK_SLACK else 0
        return max(exact, self._mark, self._sum) or reported


def _descendants(root):
    found = [root]
    for pid in found:
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children") as children:
                    found += [int(child) for child in children.read().split()]
        except OSError:
            pass  # it ended meanwhile
    return found


def _status_bytes(pid, name):
    try:
        with open(f"/proc/{pid}/status") as lines:
            for line in lines:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
