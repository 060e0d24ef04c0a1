"""The OpenAI Agents SDK: an agent with a tool, watched by OpenInference."""

import exporting

# setup
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

OpenAIAgentsInstrumentor().instrument()
# end

from agents import Agent, Runner, function_tool
from openinference.instrumentation import using_attributes


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return '{"sky":"sunny"}'


agent = Agent(name="support", instructions="You are brief.", model="gpt-4o-mini", tools=[get_weather])
with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
    Runner.run_sync(agent, "How is the weather in Lisbon?")
exporting.provider.shutdown()
