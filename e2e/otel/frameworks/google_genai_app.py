"""The client of Google's models within a span of the application's own, watched
by OpenInference."""

import exporting

# setup
from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor

GoogleGenAIInstrumentor().instrument()
# end

import os

from google import genai
from google.genai import types
from openinference.instrumentation import using_attributes
from opentelemetry import trace

WEATHER = types.FunctionDeclaration(
    name="get_weather", description="Tells the weather of a city.",
    parameters_json_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
client = genai.Client(http_options=types.HttpOptions(base_url=os.environ["GOOGLE_BASE_URL"]))
config = types.GenerateContentConfig(system_instruction="You are brief.", tools=[types.Tool(function_declarations=[WEATHER])])
contents = [types.Content(role="user", parts=[types.Part(text="How is the weather in Lisbon?")])]
tracer = trace.get_tracer("support")


def ask():
    return client.models.generate_content(model="gemini-2.5-flash", contents=contents, config=config)


with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
    with tracer.start_as_current_span("answer question"):
        first = ask()
        call = first.function_calls[0]
        with tracer.start_as_current_span("get_weather", attributes={"openinference.span.kind": "TOOL", "tool.name": call.name, "input.value": '{"city":"Lisbon"}'}) as span:
            span.set_attribute("output.value", '{"sky":"sunny"}')
        contents += [first.candidates[0].content, types.Content(role="user", parts=[types.Part.from_function_response(name=call.name, response={"sky": "sunny"})])]
        ask()
exporting.provider.shutdown()
