"""Is every end of a process told apart, its memory seen, and nothing left behind?"""

import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import measure

MIB = 1 << 20


def python(code, timeout=60):
    return measure.measure([sys.executable, "-c", code], timeout)


class Endings(unittest.TestCase):
    def test_figures_are_the_last_line(self):
        got = python("print('hello'); print('{\"seconds\": 0.5, \"rows\": 7}')")
        self.assertEqual((got["status"], got["reason"], got["seconds"], got["rows"]), ("ok", None, 0.5, 7))
        self.assertGreater(got["process_seconds"], 0)

    def test_failures(self):
        for code, status, reason in (
            ("import sys; print('{}'); sys.exit('no such\\nfile')", "failed", "exit status 1: file"),
            ("raise SystemExit(3)", "failed", "exit status 3"),
            ("import os; os.kill(os.getpid(), 9)", "killed", "signal 9 (out of memory?)"),
            ("import os, sys; print('gone', file=sys.stderr, flush=True); os.abort()", "killed", "signal 6: gone"),
            ("pass", "failed", "printed nothing"),
            ("print('[1]')", "failed", "printed no JSON object: '[1]'"),
            ("print('{\"seconds\": ')", "failed", "printed no JSON object: '{\"seconds\":'"),
            ("import sys; sys.stdout.buffer.write(bytes(range(256)))", "failed", "printed no JSON object"),
            ("import time; print('{}', flush=True); time.sleep(600)", "killed", "no result within 0.5 s"),
            ("while True: print('x' * 10000)", "failed", "printed more than"),
            ("import os, time; os.close(1); os.close(2); time.sleep(600)", "killed", "no result within 0.5 s"),
        ):
            with self.subTest(code):
                got = python(code, 0.5 if "sleep" in code else 60)
                self.assertEqual(got["status"], status)
                self.assertIn(reason, got["reason"])

    def test_a_command_that_is_not_there(self):
        got = measure.measure(["/no/such/program"], 1)
        self.assertEqual(got["status"], "failed")
        self.assertIn("cannot be started", got["reason"])

    def test_answers_instead_of_figures(self):
        for answer in ("not_offered", "not_yet"):
            got = python(f'print(\'{{"{answer}": "no such knob"}}\')')
            self.assertEqual((got["status"], got["reason"]), (answer, "no such knob"))

    def test_much_on_stderr_blocks_nobody(self):
        got = python("import sys; sys.stderr.write('x' * 1000000); print('{}')")
        self.assertEqual(got["status"], "ok")

    def test_what_the_process_started_ends_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "alive")
            child = f"import time\nwhile True: open({path!r}, 'w').close(); time.sleep(0.01)"
            code = (
                f"import os, subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {child!r}])\n"
                f"while not os.path.exists({path!r}): time.sleep(0.01)\nprint('{{}}')"
            )
            self.assertEqual(python(code)["status"], "ok")
            os.remove(path)
            time.sleep(0.3)
            self.assertFalse(os.path.exists(path))


class Memory(unittest.TestCase):
    HOLD = "block = bytearray(100 << 20); block[::4096] = b'x' * len(block[::4096])"

    def test_a_peak_that_was_given_back_is_seen(self):
        got = python(f"{self.HOLD}; del block; print('{{}}')")
        self.assertGreater(got["rss_peak_bytes"], 100 * MIB)
        self.assertLess(got["rss_peak_bytes"], 200 * MIB)

    def test_a_small_process_is_not_charged_with_the_runner(self):
        runner = bytearray(200 * MIB)
        runner[::4096] = b"x" * len(runner[::4096])
        got = measure.measure(["sh", "-c", "sleep 0.3; echo '{}'"], 60)
        self.assertLess(got["rss_peak_bytes"], 50 * MIB)

    def test_children_count_together(self):
        child = f"{self.HOLD}; import time; time.sleep(1)"
        got = python(
            "import subprocess, sys\n"
            f"children = [subprocess.Popen([sys.executable, '-c', {child!r}]) for _ in range(2)]\n"
            "for child in children: child.wait()\nprint('{}')"
        )
        self.assertGreater(got["rss_peak_bytes"], 200 * MIB)


if __name__ == "__main__":
    unittest.main()
