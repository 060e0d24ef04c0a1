"""A provider of models that is not one: it speaks enough of the OpenAI
interface for a client to chat, stream, call a tool, embed and be refused.

    python3 provider.py FILE     listens on a free port of 127.0.0.1 and writes
                                 its base URL to FILE

What it answers depends on the request alone, so every client sees the same
words and the same numbers of tokens.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "gpt-4o-mini-2024-07-18"

TOOL_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city":"Lisbon"}'},
}


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


def chat(body):
    """Calls the tool if there is one without a result, else answers."""
    if body["messages"][-1]["role"] == "tool" or not body.get("tools"):
        answer = {"role": "assistant", "content": "It is sunny in Lisbon.", "refusal": None}
        return completion(answer, "stop", usage(90, 10, cached=64))
    answer = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [TOOL_CALL]}
    return completion(answer, "tool_calls", usage(60, 20))


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

    yield chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
    for word in ("One ", "two ", "three."):
        yield chunk([{"index": 0, "delta": {"content": word}, "finish_reason": None}])
    yield chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield chunk([], usage(12, 6))


def embedding(body):
    return {
        "object": "list",
        "model": body["model"],
        "data": [{"object": "embedding", "index": 0, "embedding": [0.25, -0.5, 0.125]}],
        "usage": {"prompt_tokens": 8, "total_tokens": 8},
    }


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body.get("model") == "no-such-model":
            self.answer(404, {"error": {"message": "The model does not exist.", "type": "invalid_request_error",
                                        "param": "model", "code": "model_not_found"}})
        elif self.path.endswith("/embeddings"):
            self.answer(200, embedding(body))
        elif body.get("stream"):
            self.stream(chunks(body))
        else:
            self.answer(200, chat(body))

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
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
