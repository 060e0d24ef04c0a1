"""Pydantic AI: an agent with a tool, which describes itself to OpenTelemetry."""

import exporting

# setup
from pydantic_ai import Agent

Agent.instrument_all()
# end

agent = Agent("openai:gpt-4o-mini", name="support", instructions="You are brief.")


@agent.tool_plain
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return '{"sky":"sunny"}'


agent.run_sync("How is the weather in Lisbon?", conversation_id="conversation-2", metadata={"plan": "pro"})
exporting.provider.shutdown()
