"""LangGraph: an agent with a tool, watched by OpenInference."""

import exporting

# setup
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()
# end

from langchain.agents import create_agent
from openinference.instrumentation import using_tags


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return '{"sky":"sunny"}'


agent = create_agent("openai:gpt-4o-mini", tools=[get_weather], system_prompt="You are brief.", name="support")
with using_tags(["e2e"]):
    agent.invoke(
        {"messages": [{"role": "user", "content": "How is the weather in Lisbon?"}]},
        config={"metadata": {"session_id": "conversation-2", "user_id": "user-2", "plan": "pro"}},
    )
exporting.provider.shutdown()
