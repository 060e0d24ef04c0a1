"""MCP: a model's tools come from a server that runs as another process. MCP's SDK
describes both sides; OpenInference watches the client of OpenAI."""

import asyncio
import json
import os
import sys

import exporting

# setup
from openinference.instrumentation.openai import OpenAIInstrumentor

OpenAIInstrumentor().instrument()
# end

from mcp import Client, StdioServerParameters
from openai import AsyncOpenAI
from openinference.instrumentation import using_attributes

SERVER = StdioServerParameters(command=sys.executable, args=[os.path.join(os.path.dirname(__file__), "mcp_server.py")], env=dict(os.environ))


async def answer(question):
    model, messages = AsyncOpenAI(), [{"role": "system", "content": "You are brief."}, {"role": "user", "content": question}]
    async with Client(SERVER) as server:
        offered = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.input_schema}}
            for t in (await server.list_tools()).tools
        ]
        for _ in range(2):
            said = (await model.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=offered)).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            for call in said.tool_calls or []:
                result = await server.call_tool(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.content[0].text})


with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
    with exporting.provider.get_tracer("support").start_as_current_span("answer question"):
        asyncio.run(answer("How is the weather in Lisbon?"))
exporting.provider.shutdown()
