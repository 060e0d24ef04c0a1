"""Holds the traces that an application read back against what it did.

    check.py CASE FILE [--expect NAME=VALUE]     what app CASE printed
    check.py refused FILE LOG                    of an app with a wrong key
    check.py together                            all traces, through the lists
    check.py sample SERVICE                      of a sample of the documents

--expect asks for something else than the truth, so that a caller can see that
this program notices.
"""

import dataclasses
import json
import os
import sys
import urllib.parse
import urllib.request


@dataclasses.dataclass
class Case:
    """What one instrumentation tells of the application. Most tell the same;
    what one leaves out is said here, so that it is noticed when that changes."""

    model: str = "gpt-4o-mini-2024-07-18"
    # Where messages are: in the input and output of the span, or in the log
    # records that belong to it.
    messages: str = "span"
    question: str = "How is the weather in Lisbon?"
    cached: int = 64  # tokens of the second call that came from a cache
    stream_usage: bool = True
    stream_model: str = "gpt-4o-mini-2024-07-18"
    first_token: bool = False
    embedding_tokens: int = 8
    failed_call: bool = True  # whether the refused call has a span
    tags: tuple = ()
    cost: float = 0.0

    def __post_init__(self):
        calls = [self.call_cost(60, 20), self.call_cost(90, 10, self.cached), self.call_cost(12, 6) if self.stream_usage else 0]
        self.cost = self.cost or sum(calls) + self.embedding_tokens * 0.02e-6

    @staticmethod
    def call_cost(tokens_in, tokens_out, cached=0):
        """Dollars at the price of gpt-4o-mini: 0.15, cached 0.075, and 0.60 a
        million."""
        return ((tokens_in - cached) * 0.15 + cached * 0.075 + tokens_out * 0.60) / 1e6


CASES = {
    "python-genai": Case(first_token=True),
    "python-genai-v2-grpc": Case(messages="log", cached=0),
    "python-openinference": Case(first_token=True, tags=("e2e",)),
    "javascript-genai": Case(messages="log", cached=0),
    "javascript-openinference-json": Case(stream_usage=False, stream_model="gpt-4o-mini", embedding_tokens=0, failed_call=False),
}


class Checks:
    def __init__(self, name):
        self.name, self.count, self.problems = name, 0, []

    def equal(self, what, got, want):
        self.count += 1
        if isinstance(want, float) and isinstance(got, (int, float)) and abs(got - want) < 1e-12:
            return
        if got != want:
            self.problems.append(f"{what} is {got!r}, not {want!r}")

    def true(self, what, holds):
        self.count += 1
        if not holds:
            self.problems.append(f"not so: {what}")

    def finish(self):
        for problem in self.problems:
            print(f"{self.name}: {problem}")
        if not self.problems:
            print(f"{self.name}: {self.count} checks passed")
        sys.exit(1 if self.problems else 0)


def call(function):
    arguments = function.get("arguments")
    return {"call": function["name"], "arguments": json.loads(arguments) if isinstance(arguments, str) else arguments}


def message(m, role=None):
    """A message in one form, whichever convention wrote it: who, and a list of
    what was said."""
    said = []
    for part in m.get("parts") or []:
        if part["type"] == "tool_call":
            said.append(call(part))
        else:
            said.append(part.get("content") or part.get("response"))
    if m.get("content"):
        said.append(m["content"])
    said += [call(c["function"]) for c in m.get("tool_calls") or []]
    return (m.get("role") or role, said)


def messages(case, span):
    """The messages of a call of a model: what went in, what came out."""
    if case.messages == "span":
        return [message(m) for m in span.get("input") or []], [message(m) for m in span.get("output") or []]
    sent, got = [], []
    for event in span["events"]:
        if event["name"] == "gen_ai.choice":
            got.append(message(event["body"]["message"], "assistant"))
        elif event["name"].endswith(".message"):
            sent.append(message(event["body"], event["name"].split(".")[1]))
    # Records of one moment have no order among themselves.
    order = ["system", "user", "assistant", "tool"]
    return sorted(sent, key=lambda m: order.index(m[0])), got


def check_answer(c, case, trace):
    c.equal("name", trace["name"], "answer question")
    c.equal("status", trace["status"], "completed")
    c.equal("conversation_id", trace["conversation_id"], "conversation-1")
    c.equal("user_id", trace["user_id"], "user-1")
    c.equal("agent_name", trace["agent_name"], "support")
    c.equal("tags", trace["tags"], list(case.tags))
    c.equal("span_count", trace["span_count"], 6)
    c.equal("error_count", trace["error_count"], 0)
    c.equal("cost_usd", trace["cost_usd"], case.cost)
    stream = (12, 6) if case.stream_usage else (0, 0)
    c.equal("input_tokens", trace["usage"]["input_tokens"], 150 + stream[0] + case.embedding_tokens)
    c.equal("output_tokens", trace["usage"]["output_tokens"], 30 + stream[1])

    roots = [s for s in trace["spans"] if s["parent_span_id"] is None]
    c.equal("number of roots", len(roots), 1)
    c.true("every other span is a child of the root", all(
        s["parent_span_id"] == roots[0]["span_id"] for s in trace["spans"] if s not in roots))

    tool_call = {"call": "get_weather", "arguments": {"city": "Lisbon"}}
    asked = [("system", ["You are brief."]), ("user", [case.question])]
    result = ("tool", ['{"sky":"sunny"}'])
    said = [
        (asked, [("assistant", [tool_call])]),
        (asked + [("assistant", [tool_call]), result], [("assistant", ["It is sunny in Lisbon."])]),
        ([("user", ["Count to three."])], [("assistant", ["One two three."])]),
    ]
    tokens = [(60, 20, 0), (90, 10, case.cached), (*stream, 0)]
    models = [case.model, case.model, case.stream_model]
    calls = [s for s in trace["spans"] if s.get("primitive_type") == "model_call"]
    c.equal("number of model calls", len(calls), 3)
    for i, span in enumerate(calls):
        usage = span["usage"]
        c.equal(f"model of call {i}", span.get("model"), models[i])
        c.equal(f"provider of call {i}", span.get("provider"), "openai")
        c.equal(f"tokens of call {i}", (usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"]), tokens[i])
        c.equal(f"cost of call {i}", span["cost_usd"], case.call_cost(*tokens[i]) if tokens[i][0] else None)
        c.equal(f"messages of call {i}", messages(case, span), said[i])
    c.equal("time to the first token is known", [(s["first_token_ms"] or 0) > 0 for s in calls], [False, False, case.first_token])

    tools = [s for s in trace["spans"] if s.get("primitive_type") == "tool_call"]
    c.equal("tools", [(s.get("tool_name"), s.get("input"), s.get("output")) for s in tools],
            [("get_weather", {"city": "Lisbon"}, {"sky": "sunny"})])
    embeddings = [s for s in trace["spans"] if s.get("primitive_type") == "embedding"]
    c.equal("embeddings", [(s.get("model"), s["usage"]["input_tokens"]) for s in embeddings],
            [("text-embedding-3-small", case.embedding_tokens)])


def check_fail(c, case, trace):
    c.equal("status of the failed trace", trace["status"], "failed")
    c.equal("spans of the failed trace", trace["span_count"], 2 if case.failed_call else 1)
    c.equal("errors of the failed trace", trace["error_count"], trace["span_count"])
    for span in trace["spans"]:
        c.equal(f"status of {span['name']}", span["status"]["code"], "error")
        c.true(f"{span['name']} says why", "The model does not exist." in span["status"]["message"])
    c.true("the exception is an event", any(e["name"] == "exception" for s in trace["spans"] for e in s["events"]))


def check_case(name, path, expectations):
    c, case = Checks(name), CASES[name]
    for expectation in expectations:
        field, value = expectation.split("=", 1)
        case = dataclasses.replace(case, **{field: type(getattr(case, field))(value)})
    with open(path) as f:
        read = json.load(f)
    for trace, check in (("answer", check_answer), ("fail", check_fail)):
        c.equal(f"status of reading {trace} at once", read[trace]["status"], 200)
        if read[trace]["status"] == 200:
            check(c, case, read[trace]["body"])
    c.finish()


def check_refused(path, log):
    c = Checks("refused")
    with open(path) as f:
        for name, got in json.load(f).items():
            c.equal(f"status of reading {name}", got["status"], 404)
    with open(log) as f:
        text = f.read()
    c.true(f"the exporter says 401 or UNAUTHENTICATED, and not {text[-300:]!r}", "401" in text or "UNAUTHENTICATED" in text)
    c.finish()


def get(path, **query):
    request = urllib.request.Request(
        f"{os.environ['SERVICE_URL']}{path}?{urllib.parse.urlencode(query)}",
        headers={"Authorization": f"Bearer {os.environ['SERVICE_API_KEY']}"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def post(path, body):
    request = urllib.request.Request(
        f"{os.environ['SERVICE_URL']}{path}", data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['SERVICE_API_KEY']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def check_together():
    c, n = Checks("together"), len(CASES)
    conversation = get("/api/conversations/conversation-1")
    c.equal("turns of the conversation", conversation["totals"]["turns"], 2 * n)
    c.equal("failed turns", conversation["totals"]["failed_turns"], n)
    c.equal("cost of the conversation", conversation["totals"]["cost_usd"], sum(case.cost for case in CASES.values()))
    for query, want in ({"userId": "user-1"}, 2 * n), ({"agentName": "support", "hasError": "true"}, n), ({"search": "lisbon"}, n):
        traces = get("/api/traces", limit=100, includeTotal="true", **query)
        c.equal(f"traces with {query}", (len(traces["traces"]), traces["total"]), (want, want))
    groups = {g["key"]: g for g in get("/api/traces/metrics", groupBy="model")["groups"]}
    answered = sum(2 + (case.stream_model == case.model) for case in CASES.values())
    c.equal("calls of the model", groups[Case.model]["spans"], answered)
    c.equal("its calls with a cost", groups[Case.model]["cost_known_spans"], answered)
    c.finish()


def check_sample(service):
    """A sample asks a model once, inside a conversation."""
    c = Checks(service)
    found = [t for t in get("/api/traces", limit=100)["traces"] if t["service_name"] == service]
    c.equal("number of traces", len(found), 1)
    for t in found:
        trace = get(f"/api/traces/{t['id']}")
        c.equal("name", trace["name"], "answer question")
        c.equal("status", trace["status"], "completed")
        c.equal("conversation_id", trace["conversation_id"], "conversation-17")
        c.true("the cost is known", trace["cost_usd"])
        calls = [s for s in trace["spans"] if s.get("primitive_type") == "model_call"]
        c.equal("providers of the calls", [s.get("provider") for s in calls], ["openai"])
        c.true("a model is named", all(s.get("model", "").startswith("gpt-4o-mini") for s in calls))
        c.true("input and output are there", all(s.get("input") and s.get("output") for s in calls))
        dataset = post("/api/datasets", {"name": f"from {service}"})["id"]
        made = post("/api/traces/to-dataset", {"datasetId": dataset, "traceIds": [t["id"]]})
        c.equal("items of a dataset", (made["created"], made["skipped"]), (1, []))
        for item in get(f"/api/datasets/{dataset}/items")["items"]:
            c.true(f"the item has the question and an answer, not {item}", "Where is my invoice?" in json.dumps(item["input"]) and item["expected_output"])
    c.finish()


if __name__ == "__main__":
    if sys.argv[1] == "together":
        check_together()
    elif sys.argv[1] == "sample":
        check_sample(sys.argv[2])
    elif sys.argv[1] == "refused":
        check_refused(*sys.argv[2:])
    else:
        check_case(sys.argv[1], sys.argv[2], [a for a in sys.argv[3:] if a != "--expect"])
