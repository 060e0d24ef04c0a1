"""A provider of models that is not one: it speaks enough of the interfaces of
OpenAI (chat completions, responses, embeddings), Anthropic (messages) and Google
(generateContent) for a client to chat, stream, call a tool, embed and be
refused.

    python3 provider.py FILE     listens on a free port of 127.0.0.1 and writes
                                 its base URL, with /v1, to FILE

What it answers depends on the request alone, so every client sees the same
words and the same numbers of tokens. A key may come as a bearer token, as
x-api-key or as x-goog-api-key; without one a request is refused.
"""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "gpt-4o-mini-2024-07-18"
ANSWER = "It is sunny in Lisbon."
CITY = {"city": "Lisbon"}
COUNTED = ("One ", "two ", "three.")

# Tokens in and out: of a call of a tool, of an answer, and of a count.
CALL, ANSWERED, COUNT = (60, 20), (90, 10), (12, 6)
CACHED = 64  # of the tokens that an answer reads


# --- chat completions ---


def usage(prompt, completion, cached=0):
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def completion(message, finish, tokens):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": tokens,
    }


def wants_tool(messages, tools):
    """Whether a tool is offered and has not been called."""
    return bool(tools) and not any(m.get("role") == "tool" for m in messages)


def tool_call(body):
    """A call of the first tool that is offered."""
    function = body["tools"][0]["function"]
    arguments = CITY if "city" in function["parameters"].get("properties", {}) else {}
    return {"id": "call_1", "type": "function", "function": {"name": function["name"], "arguments": json.dumps(arguments, separators=(",", ":"))}}


def chat(body):
    """Calls the tool if there is one without a result, else answers."""
    if not wants_tool(body["messages"], body.get("tools")):
        answer = {"role": "assistant", "content": ANSWER, "refusal": None}
        return completion(answer, "stop", usage(*ANSWERED, cached=CACHED))
    answer = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [tool_call(body)]}
    return completion(answer, "tool_calls", usage(*CALL))


def chunks(body):
    def chunk(choices, tokens=None):
        return {
            "id": "chatcmpl-2",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": MODEL,
            "choices": choices,
            "usage": tokens,
        }

    def delta(delta, finish=None):
        return chunk([{"index": 0, "delta": delta, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": ""})
    if wants_tool(body["messages"], body.get("tools")):
        yield delta({"tool_calls": [{"index": 0, **tool_call(body)}]})
        finish, tokens = "tool_calls", usage(*CALL)
    else:
        words, tokens = COUNTED, usage(*COUNT)
        if body.get("tools"):
            words, tokens = ("It is sunny ", "in Lisbon."), usage(*ANSWERED, cached=CACHED)
        for word in words:
            yield delta({"content": word})
        finish = "stop"
    yield delta({}, finish)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield chunk([], tokens)


def embedding(body):
    return {
        "object": "list",
        "model": body["model"],
        "data": [{"object": "embedding", "index": 0, "embedding": [0.25, -0.5, 0.125]}],
        "usage": {"prompt_tokens": 8, "total_tokens": 8},
    }


# --- responses ---


def response(body):
    """Calls the function if there is one without a result, else answers."""
    items = body["input"] if isinstance(body["input"], list) else []
    functions = [t for t in body.get("tools") or [] if t["type"] == "function"]
    if functions and not any(i.get("type") == "function_call_output" for i in items):
        output = [{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": functions[0]["name"],
                   "arguments": json.dumps(CITY, separators=(",", ":")), "status": "completed"}]
        tokens, cached = CALL, 0
    else:
        output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                   "content": [{"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}]}]
        tokens, cached = ANSWERED, CACHED
    return {
        "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "completed_at": 1_700_000_001, "status": "completed", "model": MODEL,
        "error": None, "incomplete_details": None, "instructions": body.get("instructions"), "metadata": {}, "output": output,
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": body.get("tools") or [], "top_p": 1.0,
        "max_output_tokens": None, "previous_response_id": None, "reasoning": {"effort": None, "summary": None},
        "text": {"format": {"type": "text"}}, "truncation": "disabled", "user": None,
        "usage": {
            "input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens),
            "input_tokens_details": {"cached_tokens": cached}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def response_events(body):
    whole = response(body)
    number = iter(range(1000))

    def event(kind, **fields):
        return {"type": kind, "sequence_number": next(number), **fields}

    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for i, item in enumerate(whole["output"]):
        at = {"output_index": i, "item_id": item["id"]}
        if item["type"] == "function_call":
            yield event("response.output_item.added", output_index=i, item={**item, "arguments": "", "status": "in_progress"})
            yield event("response.function_call_arguments.delta", **at, delta=item["arguments"])
            yield event("response.function_call_arguments.done", **at, arguments=item["arguments"], name=item["name"])
        else:
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            yield event("response.output_item.added", output_index=i, item={**item, "content": [], "status": "in_progress"})
            yield event("response.content_part.added", **at, content_index=0, part=part)
            for word in re.findall(r"\S+ ?", ANSWER):
                yield event("response.output_text.delta", **at, content_index=0, delta=word, logprobs=[])
            yield event("response.output_text.done", **at, content_index=0, text=ANSWER, logprobs=[])
            yield event("response.content_part.done", **at, content_index=0, part={**part, "text": ANSWER})
        yield event("response.output_item.done", output_index=i, item=item)
    yield event("response.completed", response=whole)


# --- messages of Anthropic ---


def message(body):
    def results(m):
        return isinstance(m["content"], list) and any(p.get("type") == "tool_result" for p in m["content"])

    if body.get("tools") and not any(results(m) for m in body["messages"]):
        content = [{"type": "tool_use", "id": "toolu_1", "name": body["tools"][0]["name"], "input": CITY}]
        stop, tokens = "tool_use", CALL
    else:
        content, stop, tokens = [{"type": "text", "text": ANSWER}], "end_turn", ANSWERED
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
        "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1], "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }


def message_events(body):
    whole = message(body)
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}}
    for i, part in enumerate(whole["content"]):
        if part["type"] == "text":
            yield {"type": "content_block_start", "index": i, "content_block": {"type": "text", "text": ""}}
            for word in re.findall(r"\S+ ?", part["text"]):
                yield {"type": "content_block_delta", "index": i, "delta": {"type": "text_delta", "text": word}}
        else:
            yield {"type": "content_block_start", "index": i, "content_block": {**part, "input": {}}}
            yield {"type": "content_block_delta", "index": i, "delta": {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}}
        yield {"type": "content_block_stop", "index": i}
    yield {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


# --- generateContent of Google ---


def generated(model, body):
    parts = [p for c in body["contents"] for p in c["parts"]]
    functions = [f for t in body.get("tools") or [] for f in t.get("functionDeclarations") or t.get("function_declarations") or []]
    if functions and not any("functionResponse" in p or "function_response" in p for p in parts):
        part, tokens = {"functionCall": {"name": functions[0]["name"], "args": CITY}}, CALL
    else:
        part, tokens = {"text": ANSWER}, ANSWERED
    return {
        "responseId": "gen_1", "modelVersion": model,
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}],
        "usageMetadata": {"promptTokenCount": tokens[0], "candidatesTokenCount": tokens[1], "totalTokenCount": sum(tokens)},
    }


REFUSED = {"error": {"message": "The model does not exist.", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}}
NO_KEY = {"type": "error", "error": {"message": "Send a key.", "type": "authentication_error", "code": "invalid_api_key"}}


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        stream = body.get("stream")
        bearer = self.headers.get("Authorization") or ""
        if not (bearer.startswith("Bearer ") or self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")):
            self.answer(401, NO_KEY)
        elif body.get("model") == "no-such-model":
            self.answer(404, REFUSED)
        elif path.endswith("/embeddings"):
            self.answer(200, embedding(body))
        elif path.endswith("/responses"):
            self.stream(response_events(body), named=True) if stream else self.answer(200, response(body))
        elif path.endswith("/messages"):
            self.stream(message_events(body), named=True) if stream else self.answer(200, message(body))
        elif path.endswith(":generateContent"):
            self.answer(200, generated(path.rpartition("/")[2].partition(":")[0], body))
        elif path.endswith("/chat/completions"):
            self.stream(chunks(body)) if stream else self.answer(200, chat(body))
        else:
            self.answer(404, {"error": {"message": f"There is no {path}.", "type": "invalid_request_error", "code": "unknown_url"}})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def stream(self, events, named=False):
        """Server-sent events; those with names end without [DONE]."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            if named:
                self.wfile.write(f"event: {event['type']}\n".encode())
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        if not named:
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    with open(sys.argv[1] + ".new", "w") as f:
        f.write(f"http://127.0.0.1:{server.server_address[1]}/v1")
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()
