"""Traceloop's SDK (OpenLLMetry), pointed at Assay."""

# setup
from traceloop.sdk import Traceloop

Traceloop.init(app_name="traceloop")
# end

from openai import OpenAI
from opentelemetry import trace
from traceloop.sdk.decorators import tool, workflow

TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_weather", "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}]
client = OpenAI()


@tool(name="get_weather")
def get_weather(city):
    return {"sky": "sunny"}


@workflow(name="answer question")
def answer(question):
    Traceloop.set_association_properties({"session_id": "conversation-2", "user_id": "user-2", "plan": "pro"})
    messages = [{"role": "user", "content": question}]
    first = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS)
    call = first.choices[0].message.tool_calls[0]
    get_weather(city="Lisbon")
    messages += [{"role": "assistant", "tool_calls": [call.model_dump()]}, {"role": "tool", "tool_call_id": call.id, "content": '{"sky":"sunny"}'}]
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS).choices[0].message.content


answer("How is the weather in Lisbon?")
trace.get_tracer_provider().shutdown()
