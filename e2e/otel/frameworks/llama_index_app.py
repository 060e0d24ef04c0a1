"""LlamaIndex: an agent with a tool, watched by OpenInference."""

import asyncio

import exporting

# setup
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

LlamaIndexInstrumentor().instrument()
# end

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
from openinference.instrumentation import using_attributes


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return '{"sky":"sunny"}'


agent = FunctionAgent(name="support", tools=[get_weather], llm=OpenAI(model="gpt-4o-mini"), system_prompt="You are brief.", streaming=False)


async def main():
    with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
        await agent.run("How is the weather in Lisbon?")


asyncio.run(main())
exporting.provider.shutdown()
