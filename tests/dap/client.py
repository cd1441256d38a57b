"""A client of the Debug Adapter Protocol, as an editor is one: over `msvm dap`, without knowing anything of the project."""

import contextlib
import json
import os
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MSVM = Path(os.environ.get("MSVM_CLI", ROOT / "build/release/msvm"))
PATIENCE = 180
"""Seconds for what takes well under one; a busy machine needs a minute for the debugger of Python."""


class RefusedError(Exception):
    """A response that says no."""


class Client:
    """Talks with an adapter. Events are kept in order in ``events``; ``event`` takes them one after the other."""

    def __init__(self, command=None, env=None, cwd=None):
        self.process = subprocess.Popen(
            command or [MSVM, "dap"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        self.seq = 0
        self.events = []
        self.responses = {}
        self.taken = 0
        self.eof = False
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    # --- messages ---------------------------------------------------------------------------------------------------------

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, command, arguments=None):
        """A request; its number."""
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments or {}}
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return self.seq

    def response(self, seq, timeout=PATIENCE):
        """What came as the answer to a request."""
        with self.changed:
            assert self.changed.wait_for(lambda: seq in self.responses or self.eof, timeout), f"no answer to request {seq}; {self.story()}"
            assert seq in self.responses, f"the adapter ended without an answer to request {seq}; {self.story()}"
            return self.responses[seq]

    def request(self, command, arguments=None, timeout=PATIENCE, **more):
        """The body of the answer. ``RefusedError`` with its message if the answer is no."""
        answer = self.response(self.send(command, {**(arguments or {}), **more}), timeout)
        if not answer["success"]:
            raise RefusedError(answer.get("message", ""))
        return answer.get("body") or {}

    def event(self, name, timeout=PATIENCE, where=lambda body: True):
        """The body of the next event of the name (and for which ``where`` holds) after the one that was taken last."""
        found = None

        def look():
            nonlocal found
            for k in range(self.taken, len(self.events)):
                if self.events[k]["event"] == name and where(self.events[k].get("body") or {}):
                    found = k
                    return True
            return self.eof

        with self.changed:
            assert self.changed.wait_for(look, timeout), f"no event {name}; {self.story()}"
            assert found is not None, f"the adapter ended without an event {name}; {self.story()}"
            self.taken = found + 1
            return self.events[found].get("body") or {}

    def has_event(self, name, seconds=0.5):
        """Whether such an event comes within a while, after the one that was taken last."""

        def there():
            return any(e["event"] == name for e in self.events[self.taken :])

        with self.changed:
            self.changed.wait_for(lambda: there() or self.eof, seconds)
            return there()

    def named(self, name):
        """Bodies of all events of a name so far."""
        with self.changed:
            return [e.get("body") or {} for e in self.events if e["event"] == name]

    def output(self, category="stdout"):
        """All text of a category so far."""
        return "".join(b.get("output", "") for b in self.named("output") if b.get("category") == category)

    def story(self):
        """What happened so far, for messages of tests that fail."""
        return "events so far: " + json.dumps(self.events[-12:])[:3000]

    def _read(self):
        with contextlib.suppress(OSError):  # an adapter that was killed
            self._read_messages(self.process.stdout)
        with self.changed:
            self.eof = True
            self.changed.notify_all()

    def _read_messages(self, out):
        while True:
            length = None
            while (line := out.readline()).strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length is None:
                break
            message = json.loads(out.read(length))
            with self.changed:
                if message["type"] == "event":
                    self.events.append(message)
                else:
                    self.responses[message["request_seq"]] = message
                self.changed.notify_all()

    # --- sessions ---------------------------------------------------------------------------------------------------------

    def initialize(self, **more):
        who = {"adapterID": "msvm", "clientID": "test", "linesStartAt1": True, "columnsStartAt1": True, "pathFormat": "path"}
        return self.request("initialize", {**who, **more})

    def start(self, how="launch", breakpoints=None, filters=None, done=True, **arguments):
        """initialize, launch or attach, breakpoints ({path: [line or row]}), configurationDone. What setBreakpoints said, by path."""
        self.initialize()
        begun = self.send(how, arguments)

        def refused():
            return begun in self.responses and not self.responses[begun]["success"]

        with self.changed:
            ready = lambda: refused() or self.eof or any(e["event"] == "initialized" for e in self.events)  # noqa: E731
            assert self.changed.wait_for(ready, PATIENCE), self.story()
        if refused():
            raise RefusedError(self.responses[begun].get("message", ""))
        self.event("initialized")
        said = {str(path): self.breakpoints(path, lines) for path, lines in (breakpoints or {}).items()}
        if filters is not None:
            self.request("setExceptionBreakpoints", filters=filters)
        if done:
            self.request("configurationDone")
            assert self.response(begun)["success"], self.responses[begun]
        return said

    def breakpoints(self, path, lines):
        rows = [{"line": row} if isinstance(row, int) else row for row in lines]
        return self.request("setBreakpoints", source={"path": str(path)}, breakpoints=rows)["breakpoints"]

    def stopped(self, reason=None, timeout=PATIENCE):
        """The next stop; its reason is checked."""
        body = self.event("stopped", timeout)
        assert reason is None or body["reason"] == reason, body
        return body

    def frames(self, thread):
        return self.request("stackTrace", threadId=thread)["stackFrames"]

    def top(self, thread):
        """File name and line of the topmost frame."""
        frame = self.frames(thread)[0]
        return Path(frame["source"]["path"]).name, frame["line"]

    def step(self, command, thread, reason="step"):
        """next, stepIn, stepOut; the stop that follows."""
        self.request(command, threadId=thread)
        return self.stopped(reason)

    def resume(self, thread):
        return self.request("continue", threadId=thread)

    def scopes(self, frame):
        return {s["name"]: s["variablesReference"] for s in self.request("scopes", frameId=frame)["scopes"]}

    def variables(self, reference):
        return {v["name"]: v for v in self.request("variables", variablesReference=reference)["variables"]}

    def evaluate(self, expression, frame=None, context="repl"):
        return self.request("evaluate", {"expression": expression, "context": context, **({} if frame is None else {"frameId": frame})})

    def ended(self, timeout=PATIENCE):
        """The exit code of a program that runs to its end."""
        code = self.event("exited", timeout)["exitCode"]
        self.event("terminated", timeout)
        return code

    def close(self):
        """Leaves; the adapter ends."""
        if self.process.poll() is None:
            with contextlib.suppress(AssertionError, OSError, RefusedError):
                self.request("disconnect", timeout=20)
            with contextlib.suppress(OSError):  # it has gone
                self.process.stdin.close()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("the adapter doesn't end when its client leaves") from None
        self.reader.join(20)
        self.process.stdout.close()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
