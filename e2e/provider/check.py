"""Asks the simulated provider with the official clients of three vendors.

    check.py HONEST LIAR

Each check must hold against the first provider and fail against the second, which
answers every prompt with one wrong text and cannot be told to misbehave.
"""

import json
import sys
import urllib.request
from typing import Literal

import anthropic
import openai
from google import genai
from google.genai import errors, types
from pydantic import BaseModel, Field


class Verdict(BaseModel):
    reason: str
    points: int = Field(ge=1, le=5)
    verdict: Literal["pass", "fail"]


GOOD = Verdict(reason="The prompt says so.", points=4, verdict="pass")
JUDGED = "Is this good? [[score:0.75]]"
WEATHER = {"type": "object", "properties": {"city": {"type": "string", "enum": ["Oslo"]}}, "required": ["city"], "additionalProperties": False}
SAID = [{"role": "user", "content": "hello"}]


def same(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def raises(kind, call):
    try:
        call()
    except kind as e:
        return e
    raise AssertionError(f"no {kind.__name__}")


class Provider:
    """One simulated provider, with the clients of the vendors."""

    def __init__(self, url, lies):
        self.url, self.lies = url, lies
        # A client of Google's closes its connections when nothing refers to it.
        self.gemini = genai.Client(api_key="any", http_options=types.HttpOptions(base_url=url))
        if lies:
            wrong = {"do": "fixed", "text": "wrong"}
            self.send("PUT", "script", {"default": wrong, "models": {m: wrong for m in ("upper", "judge", "tool")}})

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/simulated/{path}", data, method=method)) as r:
            return json.load(r)

    def misbehave(self, *rules):
        self.send("DELETE", "calls")
        if not self.lies:
            self.send("PUT", "faults", {"rules": list(rules)})

    def statuses(self):
        return self.send("GET", "calls")["status"]

    def reset(self):
        self.send("DELETE", "faults")
        self.send("DELETE", "calls")

    def openai(self, retries=0):
        return openai.OpenAI(base_url=self.url + "/v1", api_key="sk-any", max_retries=retries)

    def anthropic(self, retries=0):
        return anthropic.Anthropic(base_url=self.url, api_key="sk-any", max_retries=retries)

    def google(self):
        return self.gemini


# OpenAI


def openai_chat(p):
    got = p.openai().chat.completions.create(model="upper", messages=SAID)
    same(got.choices[0].message.content, "HELLO")
    same((got.choices[0].finish_reason, got.model, got.usage.prompt_tokens, got.usage.completion_tokens), ("stop", "upper", 2, 2))


def openai_chat_parsed(p):
    got = p.openai().chat.completions.parse(model="judge", messages=[{"role": "user", "content": JUDGED}], response_format=Verdict)
    same(got.choices[0].message.parsed, GOOD)


def openai_chat_refusal(p):
    got = p.openai().chat.completions.parse(model="judge", messages=[{"role": "user", "content": JUDGED + "[[answer:refused]]"}], response_format=Verdict)
    same((got.choices[0].message.parsed, got.choices[0].message.refusal), (None, "I cannot help with that."))


def openai_chat_cut(p):
    ask = {"model": "judge", "messages": [{"role": "user", "content": JUDGED}], "response_format": Verdict}
    e = raises(openai.LengthFinishReasonError, lambda: p.openai().chat.completions.parse(max_completion_tokens=3, **ask))
    same(e.completion.usage.completion_tokens, 3)


def openai_chat_filtered(p):
    ask = {"model": "judge", "messages": [{"role": "user", "content": JUDGED + "[[answer:filtered]]"}], "response_format": Verdict}
    raises(openai.ContentFilterFinishReasonError, lambda: p.openai().chat.completions.parse(**ask))


def openai_chat_stream(p):
    pieces, usage = [], None
    for event in p.openai().chat.completions.create(model="upper", messages=SAID, stream=True, stream_options={"include_usage": True}):
        pieces += [c.delta.content for c in event.choices if c.delta.content]
        usage = event.usage or usage
    same(("".join(pieces), usage.total_tokens), ("HELLO", 4))


def openai_chat_tool(p):
    tool = {"type": "function", "function": {"name": "weather", "parameters": WEATHER, "strict": True}}
    got = p.openai().chat.completions.create(model="tool", messages=SAID, tools=[tool]).choices[0]
    call = got.message.tool_calls[0]
    same((got.finish_reason, call.function.name, json.loads(call.function.arguments)), ("tool_calls", "weather", {"city": "Oslo"}))


def openai_responses(p):
    got = p.openai().responses.create(model="upper", input="hello", instructions="Shout.")
    same((got.output_text, got.status, got.usage.output_tokens), ("HELLO", "completed", 2))


def openai_responses_parsed(p):
    same(p.openai().responses.parse(model="judge", input=JUDGED, text_format=Verdict).output_parsed, GOOD)


def openai_responses_cut(p):
    got = p.openai().responses.create(model="upper", input="hello, long world", max_output_tokens=1)
    same((got.status, got.incomplete_details.reason, got.output_text), ("incomplete", "max_output_tokens", "HELL"))


def openai_responses_stream(p):
    with p.openai().responses.stream(model="judge", input=JUDGED, text_format=Verdict) as events:
        kinds = [e.type for e in events]
        same(events.get_final_response().output_parsed, GOOD)
    same((kinds[0], kinds[-1]), ("response.created", "response.completed"))


def openai_retries_429(p):
    p.misbehave({"fault": "rate_limit", "first": 2, "retry_after": "50ms"})
    openai_chat_with = p.openai(retries=2).chat.completions.create(model="upper", messages=SAID)
    same((openai_chat_with.choices[0].message.content, p.statuses()), ("HELLO", {"200": 1, "429": 2}))


def openai_429(p):
    p.misbehave({"fault": "rate_limit", "retry_after": "7s"})
    e = raises(openai.RateLimitError, lambda: p.openai().chat.completions.create(model="upper", messages=SAID))
    same((e.status_code, e.code, e.response.headers["retry-after"]), (429, "rate_limit_exceeded", "7"))


def openai_retries_500(p):
    p.misbehave({"fault": "error", "first": 1})
    got = p.openai(retries=1).responses.create(model="upper", input="hello")
    same((got.output_text, p.statuses()), ("HELLO", {"200": 1, "500": 1}))


def openai_500(p):
    p.misbehave({"fault": "error"})
    same(raises(openai.InternalServerError, lambda: p.openai().responses.create(model="upper", input="hello")).status_code, 500)


# Anthropic


def anthropic_messages(p):
    got = p.anthropic().messages.create(model="upper", max_tokens=100, system="Shout.", messages=SAID)
    same((got.content[0].text, got.stop_reason, got.usage.output_tokens), ("HELLO", "end_turn", 2))


def anthropic_parsed(p):
    got = p.anthropic().messages.parse(model="judge", max_tokens=1000, messages=[{"role": "user", "content": JUDGED}], output_format=Verdict)
    same(got.parsed_output, GOOD)


def anthropic_bounds(p):
    output = {"format": {"type": "json_schema", "schema": Verdict.model_json_schema() | {"additionalProperties": False}}}
    e = raises(anthropic.BadRequestError, lambda: p.anthropic().messages.create(model="judge", max_tokens=100, messages=SAID, output_config=output))
    same("'maximum' is not supported" in e.body["error"]["message"], True)
    anthropic_parsed(p)  # Anthropic's client says the bounds in words instead


def anthropic_tool(p):
    tool = {"name": "weather", "input_schema": WEATHER}
    got = p.anthropic().messages.create(model="tool", max_tokens=100, messages=SAID, tools=[tool])
    same((got.stop_reason, got.content[-1].name, got.content[-1].input), ("tool_use", "weather", {"city": "Oslo"}))


def anthropic_stream(p):
    with p.anthropic().messages.stream(model="upper", max_tokens=100, messages=SAID) as events:
        same(("".join(events.text_stream), events.get_final_message().usage.output_tokens), ("HELLO", 2))


def anthropic_refusal(p):
    got = p.anthropic().messages.create(model="judge", max_tokens=100, messages=[{"role": "user", "content": JUDGED + "[[answer:refused]]"}])
    same(got.stop_reason, "refusal")


def anthropic_retries_overload(p):
    p.misbehave({"fault": "overloaded", "first": 1, "retry_after": "50ms"})
    got = p.anthropic(retries=2).messages.create(model="upper", max_tokens=100, messages=SAID)
    same((got.content[0].text, p.statuses()), ("HELLO", {"200": 1, "529": 1}))


def anthropic_429(p):
    p.misbehave({"fault": "rate_limit"})
    e = raises(anthropic.RateLimitError, lambda: p.anthropic().messages.create(model="upper", max_tokens=100, messages=SAID))
    same((e.status_code, e.body["error"]["type"]), (429, "rate_limit_error"))


# Google


def google_generate(p):
    got = p.google().models.generate_content(model="upper", contents="hello", config=types.GenerateContentConfig(system_instruction="Shout."))
    same((got.text, got.candidates[0].finish_reason, got.usage_metadata.candidates_token_count), ("HELLO", types.FinishReason.STOP, 2))


def google_parsed(p):
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Verdict)
    same(p.google().models.generate_content(model="judge", contents=JUDGED, config=config).parsed, GOOD)


def google_json_schema(p):
    config = types.GenerateContentConfig(response_mime_type="application/json", response_json_schema=Verdict.model_json_schema())
    same(p.google().models.generate_content(model="judge", contents=JUDGED, config=config).parsed, GOOD.model_dump())


def google_tool(p):
    weather = types.FunctionDeclaration(name="weather", parameters_json_schema=WEATHER)
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[weather])])
    call = p.google().models.generate_content(model="tool", contents="hello", config=config).function_calls[0]
    same((call.name, call.args), ("weather", {"city": "Oslo"}))


def google_stream(p):
    same("".join(c.text or "" for c in p.google().models.generate_content_stream(model="upper", contents="hello")), "HELLO")


def google_filtered(p):
    got = p.google().models.generate_content(model="judge", contents=JUDGED + "[[answer:filtered]]")
    same(got.candidates[0].finish_reason, types.FinishReason.PROHIBITED_CONTENT)


def google_429(p):
    p.misbehave({"fault": "rate_limit"})
    e = raises(errors.ClientError, lambda: p.google().models.generate_content(model="upper", contents="hello"))
    same((e.code, e.status), (429, "RESOURCE_EXHAUSTED"))


def google_500(p):
    p.misbehave({"fault": "error"})
    same(raises(errors.ServerError, lambda: p.google().models.generate_content(model="upper", contents="hello")).code, 500)


CHECKS = [f for name, f in list(globals().items()) if name.startswith(("openai_", "anthropic_", "google_"))]


def main(honest, liar):
    failed = 0
    for p in (Provider(honest, False), Provider(liar, True)):
        for check in CHECKS:
            p.reset()
            try:
                check(p)
                problem = "did not notice that the provider lies" if p.lies else None
            except Exception as e:  # a client that cannot read the answer has noticed too
                problem = None if p.lies else f"{type(e).__name__}: {e}"
            if problem:
                failed += 1
                print(f"FAILED: {check.__name__}: {problem}", file=sys.stderr)
    versions = f"openai {openai.__version__}, anthropic {anthropic.__version__}, google-genai {genai.__version__}"
    print(f"{len(CHECKS)} checks with {versions}: {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
