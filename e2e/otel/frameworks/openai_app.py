"""The client of OpenAI within a span of the application's own, watched by
OpenInference: the Responses API, streamed the second time."""

import json

import exporting

# setup
from openinference.instrumentation.openai import OpenAIInstrumentor

OpenAIInstrumentor().instrument()
# end

from openai import OpenAI
from openinference.instrumentation import using_attributes
from opentelemetry import trace

TOOLS = [{
    "type": "function", "name": "get_weather", "description": "Tells the weather of a city.", "strict": True,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
}]
client, tracer = OpenAI(), trace.get_tracer("support")
messages = [{"role": "user", "content": "How is the weather in Lisbon?"}]
with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
    with tracer.start_as_current_span("answer question"):
        first = client.responses.create(model="gpt-4o-mini", instructions="You are brief.", input=messages, tools=TOOLS)
        call = first.output[0]
        with tracer.start_as_current_span("get_weather", attributes={"openinference.span.kind": "TOOL", "tool.name": call.name, "input.value": call.arguments}) as span:
            span.set_attribute("output.value", '{"sky":"sunny"}')
        messages += [call.model_dump(exclude_none=True), {"type": "function_call_output", "call_id": call.call_id, "output": json.dumps({"sky": "sunny"})}]
        with client.responses.create(model="gpt-4o-mini", instructions="You are brief.", input=messages, tools=TOOLS, stream=True) as stream:
            for _ in stream:
                pass
exporting.provider.shutdown()
