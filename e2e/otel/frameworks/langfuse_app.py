"""Langfuse's SDK, pointed at Assay with its own settings."""

# setup
from langfuse import get_client, observe, propagate_attributes
from langfuse.openai import OpenAI

# end

TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_weather", "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}]
client = OpenAI()


@observe(as_type="tool", name="get_weather")
def get_weather(city):
    return {"sky": "sunny"}


@observe(name="answer question")
def answer(question):
    messages = [{"role": "user", "content": question}]
    with propagate_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
        first = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS)
        call = first.choices[0].message.tool_calls[0]
        get_weather(city="Lisbon")
        messages += [{"role": "assistant", "tool_calls": [call.model_dump()]}, {"role": "tool", "tool_call_id": call.id, "content": '{"sky":"sunny"}'}]
        return client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS).choices[0].message.content


answer("How is the weather in Lisbon?")
get_client().flush()
