"""Records what A2A's SDK for Python says between a client and an agent.

    record_a2a.py

Both run in this process and speak JSON-RPC over HTTP without a network. The agent is
asked in the present form of the protocol, and in the one before it, which many still
speak. Needs a2a-sdk[http-server].
"""

import asyncio
import json

import httpx
import recording
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

MADE_BY = recording.version("a2a-sdk")
URL = "http://agent.test"
CARD = AgentCard(
    name="Refund agent",
    description="Decides about refunds.",
    version="2.1.0",
    supported_interfaces=[
        AgentInterface(url=URL + "/rpc", protocol_binding="JSONRPC", protocol_version="1.0"),
        AgentInterface(url=URL + "/rpc", protocol_binding="JSONRPC", protocol_version="0.3"),
    ],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="refund", name="Refund", description="Refunds an order.", tags=["orders"])],
)


class Refunds(AgentExecutor):
    """Does what the message names: completes, fails, rejects, or asks back."""

    async def execute(self, context, event_queue):
        text = context.get_user_input()
        task = context.current_task or new_task_from_user_message(context.message)
        if not context.current_task:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        say = lambda words: updater.new_agent_message([new_text_part(words)])
        await updater.start_work()
        if text == "fail":
            await updater.failed(say("The bank does not answer."))
        elif text == "reject":
            await updater.reject(say("Not without an order."))
        elif text == "ask":
            await updater.requires_input(say("Which order?"))
        elif text == "authorize":
            await updater.requires_auth(say("Please sign in."))
        else:
            await updater.add_artifact([new_text_part("Refunded 12.00 EUR.")], name="receipt")
            await updater.complete()

    async def cancel(self, context, event_queue):
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.cancel()


def message(text, older):
    if older:
        return {"kind": "message", "messageId": "m-" + text, "role": "user", "parts": [{"kind": "text", "text": text}]}
    return {"messageId": "m-" + text, "role": "ROLE_USER", "parts": [{"text": text}]}


async def stream(client, text, older):
    """The request, and every event that answers it."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream" if older else "SendStreamingMessage", "params": {"message": message(text, older)}}
    heard = [body]
    async with client.stream("POST", URL + "/rpc", json=body, headers={} if older else {"A2A-Version": "1.0"}) as reply:
        async for line in reply.aiter_lines():
            if line.startswith("data:"):
                heard.append(json.loads(line[5:]))
    return heard


async def call(client, method, params, older):
    body = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}
    reply = await client.post(URL + "/rpc", json=body, headers={} if older else {"A2A-Version": "1.0"})
    return reply.json()


async def main():
    handler = DefaultRequestHandlerV2(agent_executor=Refunds(), task_store=InMemoryTaskStore(), agent_card=CARD)
    app = Starlette(routes=create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True) + create_agent_card_routes(CARD))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
        card = (await client.get(URL + "/.well-known/agent-card.json")).json()
        recording.write("a2a.event", "agent_card", MADE_BY, card, type="a2a.agent-card", source=URL)
        for older, form in ((False, "1.0"), (True, "0.3")):
            for text in ("complete", "fail", "reject", "ask", "authorize"):
                heard = await asyncio.wait_for(stream(client, text, older), 10)
                for i, said in enumerate(heard):
                    recording.write("a2a.event", f"{form}_{text}_{i}", MADE_BY, said, type="a2a.event", source=URL)
                if text == "complete":
                    result = heard[1]["result"]
                    task = {"id": result["id"] if older else result["task"]["id"]}
                    got = await call(client, "tasks/get" if older else "GetTask", task, older)
                    recording.write("a2a.event", f"{form}_task", MADE_BY, got, type="a2a.event", source=URL)
                if text == "ask":
                    result = heard[1]["result"]
                    task = {"id": result["id"] if older else result["task"]["id"]}
                    got = await call(client, "tasks/cancel" if older else "CancelTask", task, older)
                    recording.write("a2a.event", f"{form}_cancelled", MADE_BY, got, type="a2a.event", source=URL)


asyncio.run(main())
