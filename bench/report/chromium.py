"""Drives a headless Chromium over its DevTools pipe: JSON messages ended by NUL, in on descriptor 3, out on 4.

The pipe needs no port, no WebSocket and no package. Commands and events: the DevTools protocol, domains Target, Page,
Runtime, Log, Network, Emulation and Input.
"""

import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
DEADLINE_SECONDS = 120


def find():
    """(path, "") of a usable Chromium, or (None, the reason why there is none)."""
    path = shutil.which("chromium")
    if not path:
        return None, "no program chromium (Debian: tools/setup.sh bench)"
    if os.path.realpath(path).endswith("/snap"):
        return None, "chromium is a snap, which cannot read files outside the home folder"
    return path, ""


class Page:
    """One tab. Collects what went wrong in `problems`; use as a context manager, which ends the browser."""

    def __init__(self, chromium):
        self.problems = []
        self.requests = []
        self._last_id = 0
        self._answers = {}
        self._pending = b""
        self._session = None
        self._chromium = chromium

    def __enter__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="frazil-chromium-", ignore_cleanup_errors=True)
        self._said = tempfile.TemporaryFile()
        # Moved out of the way of 3 and 4, which the browser takes.
        commands_read, self._write, self._read, answers_write = [_moved(end) for end in (*os.pipe(), *os.pipe())]

        def take_descriptors():
            os.dup2(commands_read, 3)
            os.dup2(answers_write, 4)

        self._process = subprocess.Popen(
            [self._chromium, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"],
            preexec_fn=take_descriptors,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
        )
        os.close(commands_read)
        os.close(answers_write)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._session = None
        try:
            self.call("Browser.close")  # ends all its processes, which a signal to the first one does not wait for
            self._process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._said.close()
        self._profile.cleanup()

    def call(self, method, **parameters):
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._write, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise self._ended(method) from None
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self._last_id not in self._answers:
            self._receive(deadline, method)
        answer = self._answers.pop(self._last_id)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def evaluate(self, expression):
        """The JSON value of an expression in the page; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {_exception(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def wait_until(self, expression):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not self.evaluate(expression):
            if self.problems or time.monotonic() > deadline:
                raise RuntimeError(f"never true: {expression}; problems: {self.problems}")
            time.sleep(0.05)

    def key(self, name, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def _receive(self, deadline, method):
        if not select.select([self._read], [], [], max(0, deadline - time.monotonic()))[0]:
            raise RuntimeError(f"chromium did not answer {method} within {DEADLINE_SECONDS} s")
        received = os.read(self._read, 1 << 20)
        if not received:
            raise self._ended(method)
        *whole, self._pending = (self._pending + received).split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._note(message["method"], message["params"])

    def _ended(self, method):
        status = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace")[-500:]
        return RuntimeError(f"chromium ended during {method}, exit status {status}: {said}")

    def _note(self, event, parameters):
        if event == "Runtime.exceptionThrown":
            self.problems.append(f"exception: {_exception(parameters['exceptionDetails'])}")
        elif event == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            words = " ".join(str(argument.get("value", argument.get("description"))) for argument in parameters["args"])
            self.problems.append(f"console.{parameters['type']}: {words}")
        elif event == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {parameters['entry']['text']}")
        elif event == "Inspector.targetCrashed":
            self.problems.append("the page crashed")
        elif event == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


def _moved(descriptor):
    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return copy


def _exception(details):
    return (details.get("exception") or {}).get("description") or details.get("text")
