"""A running program that answers verbs: a line of JSON in, a line of JSON out."""
import json
import subprocess


class VerbProgram:
    """Requests are objects with the member `verb`; an answer with the member `error` is a refusal."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, verb, **request):
        self.process.stdin.write(json.dumps({"verb": verb, **request}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"{self.process.args[0]} ended at {verb} {request}"
        return json.loads(line)

    def do(self, verb, **request):
        answer = self.ask(verb, **request)
        assert "error" not in answer, (verb, request, answer)
        return answer

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0
        self.process.stdout.close()
