"""Records the decision log of Open Policy Agent.

    record_opa.py OPA      the path of its program

OPA runs as a server that logs its decisions to the console, and is asked a few
questions.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request

import recording

ADDRESS = "127.0.0.1:28181"
POLICY = """package tools.refund

default allow := false

allow if input.amount <= 100

decision := {"allow": allow, "reason": reason}

reason := "small enough" if allow

reason := "more than 100" if not allow

verdict := {"decision": "require_approval", "reasons": ["a person must agree"]}

advice := "maybe"
"""
MASK = """package system.log

mask contains "/input/card"
"""
ASKED = (
    ("allowed", "tools/refund/allow", {"amount": 12, "card": "4111"}),
    ("denied", "tools/refund/allow", {"amount": 1200}),
    ("object", "tools/refund/decision", {"amount": 1200}),
    ("approval", "tools/refund/verdict", {"amount": 1200}),
    ("text", "tools/refund/advice", {"amount": 1200}),
    ("undefined", "tools/refund/missing", {"amount": 1200}),
)


def ask(path, question):
    body = json.dumps({"input": question}).encode()
    request = urllib.request.Request(f"http://{ADDRESS}/v1/data/{path}", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()


def main():
    opa = sys.argv[1]
    shown = subprocess.run([opa, "version"], capture_output=True, text=True, check=True).stdout
    made_by = "opa " + shown.splitlines()[0].split()[-1]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("refund.rego", POLICY), ("mask.rego", MASK)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        command = [opa, "run", "--server", "--addr", ADDRESS, "--disable-telemetry", "--set", "decision_logs.console=true", "--log-format", "json", folder]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            for line in server.stderr:
                if "Initializing server" in line:
                    break
            while True:
                try:
                    urllib.request.urlopen(f"http://{ADDRESS}/health").read()
                    break
                except OSError:
                    pass
            for _, path, question in ASKED:
                ask(path, question)
            names = [name for name, _, _ in ASKED]
            for line in server.stderr:
                entry = json.loads(line)
                if entry.get("msg") != "Decision Log":
                    continue
                # The console adds what every line of its log has.
                for extra in ("level", "msg", "time", "type"):
                    entry.pop(extra, None)
                recording.write("opa.decision", names.pop(0), made_by, entry, type="opa.decision", source="//recorded/opa")
                if not names:
                    break
        finally:
            server.terminate()
            server.wait()


main()
