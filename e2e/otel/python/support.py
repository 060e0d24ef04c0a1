"""An application that answers a question with a model and a tool.

The applications in this folder share it: what differs between them is who
watches. Nothing here knows about Assay, except show, which reads the traces
back.
"""

import json
import os
import sys
import urllib.error
import urllib.request

import openai

TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}]


def answer(client, get_weather):
    """Chats with a tool, streams and embeds."""
    messages = [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": "How is the weather in Lisbon?"},
    ]
    first = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS, temperature=0.5)
    call = first.choices[0].message.tool_calls[0]
    messages.append({"role": "assistant", "tool_calls": [call.model_dump()]})
    messages.append({"role": "tool", "tool_call_id": call.id, "content": get_weather(call)})
    client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS, temperature=0.5)

    count = [{"role": "user", "content": "Count to three."}]
    with client.chat.completions.create(
        model="gpt-4o-mini", messages=count, stream=True, stream_options={"include_usage": True}
    ) as stream:
        for _ in stream:
            pass
    client.embeddings.create(model="text-embedding-3-small", input="How is the weather in Lisbon?")


def fail(client):
    """Asks for a model that does not exist; the error is the caller's."""
    client.chat.completions.create(model="no-such-model", messages=[{"role": "user", "content": "Hello?"}])


def run(tracer, get_weather, **attributes):
    """Makes two traces, one that completes and one that fails, and returns
    their ids by name."""
    client = openai.OpenAI(max_retries=0)
    ids = {}
    with tracer.start_as_current_span("answer question", attributes=attributes) as span:
        ids["answer"] = format(span.get_span_context().trace_id, "032x")
        answer(client, get_weather)
    try:
        with tracer.start_as_current_span("ask in vain", attributes=attributes) as span:
            ids["fail"] = format(span.get_span_context().trace_id, "032x")
            fail(client)
    except openai.NotFoundError:
        pass
    return ids


def show(ids):
    """Reads the traces and prints them with their status codes. It is called
    right after the exporter's flush: whatever is not readable then is missing."""
    read = {}
    for name, trace in ids.items():
        request = urllib.request.Request(
            f"{os.environ['SERVICE_URL']}/api/traces/{trace}",
            headers={"Authorization": f"Bearer {os.environ['SERVICE_API_KEY']}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                read[name] = {"status": response.status, "body": json.load(response)}
        except urllib.error.HTTPError as error:
            read[name] = {"status": error.code, "body": json.load(error)}
    json.dump(read, sys.stdout)
