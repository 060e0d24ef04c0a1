"""Records what MCP's SDK for Python says between a client and a server.

    record_mcp.py

Both run in this process, once per revision of the protocol that they can agree on:
the newest, without a session, and the last two that begin with a handshake. Needs the
package mcp.
"""

import asyncio
import json

import recording
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult, ToolAnnotations
from pydantic import BaseModel

MADE_BY = recording.version("mcp")
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ASKED = {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}

server = MCPServer("orders", version="1.4.0")


class Reason(BaseModel):
    reason: str


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def get_order(order_id: str) -> dict[str, str]:
    """Looks an order up."""
    if order_id == "missing":
        raise ValueError("there is no such order")
    return {"order_id": order_id, "state": "shipped"}


@server.tool(annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True))
def add_note(order_id: str, note: str) -> str:
    """Adds a note to an order."""
    return "added"


@server.tool()
async def cancel_order(order_id: str, ctx: Context) -> str:
    """Cancels an order after the customer gave a reason."""
    await ctx.elicit("Why is the order cancelled?", Reason)
    return "cancelled"


@server.tool()
def refund_order(order_id: str, ctx: Context) -> str | InputRequiredResult:
    """Refunds an order after the customer gave a reason; for revisions without a session."""
    if ctx.input_responses:
        return "refunded"
    question = ElicitRequest(params=ElicitRequestFormParams(message="Why is the order refunded?", requested_schema=ASKED))
    return InputRequiredResult(input_requests={"reason": question})


class Tap:
    """A transport that keeps every message as it goes over the wire."""

    def __init__(self, inner, heard, offer):
        self.inner, self.heard, self.offer = inner, heard, offer

    async def __aenter__(self):
        read, write = await self.inner.__aenter__()
        return Tapped(read, self), Tapped(write, self)

    async def __aexit__(self, *error):
        await self.inner.__aexit__(*error)

    def keep(self, message):
        if not isinstance(message, Exception):
            self.heard.append(json.loads(message.message.model_dump_json(by_alias=True, exclude_unset=True)))


class Tapped:
    """One direction of a transport."""

    def __init__(self, stream, tap):
        self.stream, self.tap = stream, tap

    def __getattr__(self, name):
        return getattr(self.stream, name)

    async def __aenter__(self):
        await self.stream.__aenter__()
        return self

    async def __aexit__(self, *error):
        return await self.stream.__aexit__(*error)

    def __aiter__(self):
        return self

    async def __anext__(self):
        message = await self.stream.__anext__()
        self.tap.keep(message)
        return message

    async def receive(self):
        message = await self.stream.receive()
        self.tap.keep(message)
        return message

    async def send(self, message):
        # The client offers its newest revision; an older client offers an older one.
        if self.tap.offer and getattr(message.message, "method", "") == "initialize":
            message.message.params["protocolVersion"] = self.tap.offer
        self.tap.keep(message)
        await self.stream.send(message)


async def answer(context, params):
    return ElicitResult(action="accept", content={"reason": "ordered twice"})


async def record(mode, offer=None):
    heard = []
    async with Client(Tap(InMemoryTransport(server), heard, offer), mode=mode, elicitation_callback=answer) as client:
        await client.list_tools()
        await client.call_tool("get_order", {"order_id": "o-1"}, meta={"traceparent": TRACEPARENT})
        await client.call_tool("get_order", {"order_id": "missing"})
        await client.call_tool("add_note", {"order_id": "o-1", "note": "call back"})
        await client.call_tool("refund_order" if mode == "auto" else "cancel_order", {"order_id": "o-1"})
        try:
            await client.call_tool("no_such_tool", {})
        except Exception:  # the refusal is on the wire, which is what counts
            pass
        return client.protocol_version, heard


def context(message, calls, session):
    """What a sender knows about a message besides the message: its session or, in
    revisions without one, the trace of the call that it is about."""
    if session:
        return {"subject": session}
    if "method" in message:
        calls[message["id"]] = message["params"]["_meta"].get("traceparent")
    trace = calls.get(message["id"])
    return {"traceparent": trace} if trace else {}


async def main():
    for mode, offer in (("auto", None), ("legacy", None), ("legacy", "2025-06-18")):
        revision, heard = await record(mode, offer)
        session, calls = "" if mode == "auto" else "session-" + revision, {}
        for i, message in enumerate(heard):
            name = message.get("method", "result" if "result" in message else "error").replace("/", "_")
            recording.write("mcp.message", f"python_{revision}_{i:02}_{name}", MADE_BY, message, type="mcp.message", **context(message, calls, session))


asyncio.run(main())
