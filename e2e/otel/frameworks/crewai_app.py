"""CrewAI: a crew of one with a tool, watched by OpenInference."""

import exporting

# setup
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor

CrewAIInstrumentor().instrument()
OpenAIInstrumentor().instrument()
# end

from crewai import Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation import using_attributes


@tool("get_weather")
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return '{"sky":"sunny"}'


agent = Agent(role="support", goal="Answer.", backstory="You are brief.", tools=[get_weather], llm="gpt-4o-mini")
task = Task(description="How is the weather in Lisbon?", expected_output="A sentence.", agent=agent)
with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
    Crew(agents=[agent], tasks=[task]).kickoff()
exporting.provider.shutdown()
