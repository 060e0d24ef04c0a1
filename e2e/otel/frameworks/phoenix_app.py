"""Phoenix's SDK, pointed at Assay with its own settings."""

# setup
from phoenix.otel import register

provider = register(auto_instrument=True, batch=True)
# end

from openai import OpenAI
from openinference.instrumentation import using_attributes

TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_weather", "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}]
client, tracer = OpenAI(), provider.get_tracer("support")


@tracer.tool(name="get_weather")
def get_weather(city: str) -> dict:
    return {"sky": "sunny"}


@tracer.chain(name="answer question")
def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    first = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS)
    call = first.choices[0].message.tool_calls[0]
    get_weather(city="Lisbon")
    messages += [{"role": "assistant", "tool_calls": [call.model_dump()]}, {"role": "tool", "tool_call_id": call.id, "content": '{"sky":"sunny"}'}]
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS).choices[0].message.content


with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
    answer("How is the weather in Lisbon?")
provider.shutdown()
