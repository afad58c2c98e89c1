#!/usr/bin/env python3
"""Permits from a Sluice server, in one file and with nothing but Python's standard library (3.8 or newer).

    from sluice import Project

    project = Project("http://localhost:8080", "acme-prod", token="slc_...", agent="host-3/agent-17")
    with project.permit("claude-sonnet-5-5", input_tokens=2_000, max_output_tokens=4_096, max_wait=60) as permit:
        answer = send_the_request()
        permit.settle(usage={"input_tokens": 1_900, "output_tokens": 250})

While it waits it says why, and its place in line. While the block runs, a thread renews the permit. A block that ends without
settle, or by an exception, is charged its estimate: the provider may have counted it. `permit.cancel()` says that nothing was sent.

Run as a program it shows one call: python3 sluice.py --url http://localhost:8080 acme-prod claude-sonnet-5-5
"""
import argparse
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class SluiceError(Exception):
    """A "no" that waiting does not change, or that came after the longest wait. `kind` is one stable word, `body` all of it."""

    def __init__(self, status, body):
        super().__init__(body.get("detail") or body.get("title") or "HTTP %s" % status)
        self.status = status
        self.kind = body.get("kind", "unknown")
        self.body = body


def show(place):
    """How a wait is told unless you say otherwise: one line on standard error."""
    print("waiting on %s %s: place %s, about %d s" % (
        place["project"], place.get("limit"), place.get("position"), -(-place.get("wait_ms", 0) // 1000)),
        file=sys.stderr, flush=True)


class Project:
    """A budget. Safe to share between threads."""

    def __init__(self, url, project, token=None, agent=None, team=None, run=None, on_wait=show):
        self.base = url.rstrip("/") + "/v1/projects/" + urllib.parse.quote(project, safe="")
        self.name = project
        self.token = token or os.environ.get("SLUICE_TOKEN")
        self.who = {k: v for k, v in {"agent": agent, "team": team, "run": run}.items() if v is not None}
        self.on_wait = on_wait

    def permit(self, model, input_tokens, max_output_tokens=None, max_wait=0.0, **more):
        """Waits up to `max_wait` seconds for a permit; `more` are further members of the call, such as priority="batch".

        The id makes a repeated question the same question: where a connection breaks, or a server stops, it is asked again
        and keeps its place.
        """
        ask = dict(self.who, id=str(uuid.uuid4()), model=model, input_tokens=input_tokens, **more)
        if max_output_tokens is not None:
            ask["max_output_tokens"] = max_output_tokens
        deadline = time.monotonic() + max_wait
        pause = 0.1
        while True:
            left = max(0.0, deadline - time.monotonic())
            try:
                return Permit(self, self._wait(dict(ask, max_wait_ms=int(left * 1000)), left))
            except (OSError, SluiceError) as no:
                # The server is gone, or says that it or its Redis is going: another may be there. All else is an answer.
                if (isinstance(no, SluiceError) and no.status != 503) or time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, 2.0)

    def _wait(self, ask, seconds):
        with self._open("POST", "/permits", ask, {"Accept": "text/event-stream"}, seconds + 30) as events:
            for name, data in read_events(events):
                if name == "granted":
                    return data
                if name == "refused":
                    raise SluiceError(data.get("status", 0), data)
                if name == "waiting":
                    self.on_wait(dict(data, project=self.name))
        raise ConnectionError("the server ended the stream without an answer")

    def request(self, method, path, body=None):
        """One call of the API below the project; its answer as a dict."""
        with self._open(method, path, body, {}, 30) as answer:
            text = answer.read()
            return json.loads(text) if text else {}

    def _open(self, method, path, body, headers, timeout):
        headers = dict(headers)
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        try:
            return urllib.request.urlopen(
                urllib.request.Request(self.base + path, data, headers, method=method), timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise SluiceError(error.code, problem(error.read())) from None


class Permit:
    """Leave for one request. Ends once: by `settle`, by `cancel`, or with the block it is used in."""

    def __init__(self, project, granted):
        self.project = project
        self.id = granted["permit"]
        self.model_class = granted["class"]
        self.waited_ms = granted["waited_ms"]
        self.lost = threading.Event()  # set where the lease ran out: somebody else may have the slot
        self._ended = threading.Event()
        self._renewing = threading.Thread(target=self._renew, args=(granted["lease_ms"] / 1000,), daemon=True)
        self._renewing.start()

    def settle(self, usage=None, status=None, headers=None, body=None):
        """Says what was used, or hands over the provider's answer. Returns the advice: done, retry (after wait_ms) or stop."""
        report = {"usage": usage, "status": status, "headers": headers, "body": body}
        return self._end("POST", "/settle", {k: v for k, v in report.items() if v is not None})["advice"]

    def cancel(self):
        """Nothing was sent: everything comes back."""
        return self._end("DELETE", "", None)

    def _end(self, method, path, body):
        self._ended.set()
        for attempt in range(5):
            try:
                return self.project.request(method, "/permits/" + self.id + path, body)
            except (OSError, SluiceError) as no:
                # Said twice it counts once.
                if attempt == 4 or (isinstance(no, SluiceError) and no.status != 503):
                    raise
                time.sleep(0.1 * 2 ** attempt)

    def _renew(self, lease):
        while not self._ended.wait(lease / 3):
            try:
                lease = self.project.request("POST", "/permits/" + self.id + "/renew")["lease_ms"] / 1000
            except SluiceError as no:
                if no.status in (404, 410) and not self._ended.is_set():
                    self.lost.set()
                    return
            except OSError:
                pass  # the next try is in time, too

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not self._ended.is_set():
            self.settle()


def read_events(lines):
    """Server-sent events as (name, data)."""
    name, data = "message", []
    for line in lines:
        line = line.decode().rstrip("\r\n")
        if not line:
            if data:
                yield name, json.loads("\n".join(data))
            name, data = "message", []
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].strip())


def problem(text):
    try:
        body = json.loads(text)
        return body if isinstance(body, dict) else {}
    except ValueError:
        return {}


def main():
    options = argparse.ArgumentParser(description="One call on a Sluice budget, without the call.")
    options.add_argument("--url", default=os.environ.get("SLUICE_URL", "http://localhost:8080"))
    options.add_argument("--agent")
    options.add_argument("--max-wait", type=float, default=60.0, metavar="SECONDS")
    options.add_argument("--hold", type=float, default=0.0, metavar="SECONDS", help="how long the call is to take")
    options.add_argument("project")
    options.add_argument("model")
    asked = options.parse_args()
    project = Project(asked.url, asked.project, agent=asked.agent)
    try:
        with project.permit(asked.model, 2_000, max_output_tokens=500, max_wait=asked.max_wait) as permit:
            print("granted on %s after %d ms" % (permit.model_class, permit.waited_ms), flush=True)
            if permit.lost.wait(asked.hold):
                sys.exit("the lease ran out")
            print("advice:", permit.settle(usage={"input_tokens": 1_900, "output_tokens": 250})["action"])
    except SluiceError as no:
        sys.exit("%s: %s" % (no.kind, no))


if __name__ == "__main__":
    main()
