"""What frameworks tell of one conversation, and what becomes of it.

    framework.py check CASE RESULT     compares the traces of service CASE with
                                        what the application did, and writes what
                                        was mapped to RESULT; --expect NAME=VALUE
                                        expects something else than the truth
    framework.py list                  prints the cases for ./run: the name, the
                                        lock file, the application, its settings
    framework.py page RESULTS FILE     compares the generated part of FILE with
                                        the results in a folder; --write writes it

Every application asks about the weather in Lisbon, as user-2 in conversation-2.
The model calls a tool, sees its result and answers. A trace must have the
question and the answer, tokens and cost, the tool, one tree of spans, and a
dataset item must come of it. What a framework cannot tell is listed here, so
that it is noticed when that changes.
"""

import dataclasses
import json
import pathlib
import re
import sys

from cases import CASES
from check import Checks, get, post

QUESTION, ANSWER = "How is the weather in Lisbon?", "It is sunny in Lisbon."
HERE = pathlib.Path(__file__).parent



class Trace:
    """A trace and the tree of its spans."""

    def __init__(self, body):
        self.body, self.spans = body, body["spans"]
        self.by_id = {s["span_id"]: s for s in self.spans}
        self.roots = [s for s in self.spans if s["parent_span_id"] not in self.by_id]

    def of(self, kind):
        return [s for s in self.spans if s.get("primitive_type") == kind]


def said(value):
    """The texts of a payload, wherever they are."""
    return json.dumps(value, ensure_ascii=False) if value is not None else ""


def check_tree(c, t, f):
    c.equal("number of roots", [s["name"] for s in t.roots][1:], [])
    c.true("every span ended", all(s["end_time"] for s in t.spans))
    calls = t.of("model_call")
    c.equal("number of model calls", len(calls), f.calls)
    if f.calls and calls:
        c.true("the first call has the question", QUESTION in said(calls[0].get("input")))
        c.true("the last call has the answer", ANSWER in said(max(calls, key=lambda s: s["end_time"]).get("output")))
    tools = t.of("tool_call")
    c.equal("names of tools", [s.get("tool_name") for s in tools], ["get_weather"] * f.tools)
    if not f.tool_payloads:
        c.equal("inputs and outputs of tools", [(s.get("input"), s.get("output")) for s in tools], [(None, None)] * f.tools)
        return
    for s in tools:
        c.true(f"the tool's input is Lisbon, not {said(s.get('input'))[:200]}", "Lisbon" in said(s.get("input")))
        c.true(f"the tool's output is the sky, not {said(s.get('output'))[:200]}", "sunny" in said(s.get("output")))


def check_trace(c, t, f):
    b = t.body
    c.equal("status", b["status"], "completed")
    if f.name:
        c.equal("name", b["name"], f.name)
    if f.whole:
        c.equal("input and output", (b["input"], b["output"]), (QUESTION, ANSWER))
    c.true("the input has the question", QUESTION in said(b["input"]))
    c.true("the output has the answer", ANSWER in said(b["output"]))
    c.equal("tokens", (b["usage"]["input_tokens"], b["usage"]["output_tokens"]), f.tokens)
    c.equal("cost_usd", b["cost_usd"], f.cost)
    c.equal("errors", b["error_count"], 0)
    c.equal("conversation_id", b["conversation_id"] or "", f.session)
    c.equal("user_id", b["user_id"] or "", f.user)
    c.equal("tags", b["tags"], list(f.tags))
    c.equal("agent_name", b["agent_name"] or "", f.agent)
    for key, value in f.metadata.items():
        c.equal(f"metadata {key}", (b["metadata"] or {}).get(key), value)


def check_item(c, t):
    """The trace as an item of a dataset."""
    dataset = post("/api/datasets", {"name": f"from {t.body['id']}"})["id"]
    made = post("/api/traces/to-dataset", {"datasetId": dataset, "traceIds": [t.body["id"]]})
    c.equal("items", (made["created"], made["skipped"]), (1, []))
    for item in get(f"/api/datasets/{dataset}/items")["items"]:
        c.equal("the item", (item["input"], item["expected_output"]), (t.body["input"], t.body["output"]))


def check(case, result, *lies):
    c, f = Checks(case), CASES[case]
    for lie in lies:
        field, value = lie.split("=", 1)
        f = dataclasses.replace(f, **{field: type(getattr(f, field))(value)})
    found = [t for t in get("/api/traces", limit=200)["traces"] if t["service_name"] == case]
    c.equal("traces", [t["name"] for t in found][1:], [])
    c.true("there is a trace", found)
    if found:
        t = Trace(get(f"/api/traces/{found[0]['id']}"))
        check_tree(c, t, f)
        check_trace(c, t, f)
        check_item(c, t)
        mapped = {
            "input": QUESTION in said(t.body["input"]), "output": ANSWER in said(t.body["output"]), "tokens": t.body["usage"]["total_tokens"] > 0, "cost": bool(t.body["cost_usd"]),
            "tools": bool(t.of("tool_call")), "spans": len(t.roots) == 1, "session": bool(t.body["conversation_id"]), "user": bool(t.body["user_id"]),
            "tags": bool(t.body["tags"]), "agent": bool(t.body["agent_name"]), "metadata": bool(t.body["metadata"]),
        }
        pathlib.Path(result).write_text(json.dumps(mapped))
    c.finish()


COLUMNS = ("input", "output", "tokens", "cost", "tools", "spans", "session", "user", "tags", "agent", "metadata")
LANGUAGES = {"py": "python", "mjs": "js", "yaml": "yaml"}
BEGIN, END = "<!-- frameworks:begin -->", "<!-- frameworks:end -->"


def versions(f):
    text = (HERE / f.lock).read_text()
    out = []
    for package in f.packages:
        if f.lock.endswith(".json"):
            version = json.loads(text)["packages"][f"node_modules/{package}"]["version"]
        else:
            version = re.search(rf"(?mi)^{re.escape(package)}==(\S+)", text).group(1)
        out.append(f"`{package}` {version}")
    return ", ".join(out)


def lines(f):
    """What a user writes: the marked lines of the application, or of its settings."""
    text = (HERE / "frameworks" / (f.setup or f.app)).read_text()
    marked = re.findall(r"(?ms)^(?:#|//) setup\n(.*?)^(?:#|//) end\n", text)
    return "\n".join(block.strip("\n") for block in marked)


def page(results):
    out = ["| Framework | Versions | " + " | ".join(COLUMNS) + " |", "|---|---|" + "---|" * len(COLUMNS)]
    for case, f in CASES.items():
        mapped = json.loads((pathlib.Path(results) / f"{case}.json").read_text())
        out.append(f"| [{f.title}](#{anchor(f.title)}) | {versions(f)} | " + " | ".join("✓" if mapped[k] else "–" for k in COLUMNS) + " |")
    for case, f in CASES.items():
        out += ["", f"## {f.title}", ""]
        if f.remark:
            out += [f.remark, ""]
        out += [f"```{LANGUAGES[(f.setup or f.app).rpartition('.')[2]]}", lines(f), "```"]
    return "\n".join(out)


def anchor(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def compare_page(results, file, write):
    path = pathlib.Path(file)
    text = path.read_text()
    before, _, rest = text.partition(BEGIN + "\n")
    _, _, after = rest.partition(END)
    want = before + BEGIN + "\n" + page(results) + "\n" + END + after
    if write:
        path.write_text(want)
    elif text != want:
        print(f"{file} is not what the applications show: run `FRAMEWORKS=write make clients` and commit the result.")
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(*(a for a in sys.argv[2:] if a != "--expect"))
    elif sys.argv[1] == "list":
        for case, f in CASES.items():
            print("\t".join([case, f.lock, f.app, *(f"{k}={v}" for k, v in f.env.items())]))
    else:
        compare_page(*sys.argv[2:4], "--write" in sys.argv)
