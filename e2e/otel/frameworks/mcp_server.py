"""A server of MCP with one tool; mcp_app.py starts it."""

import exporting
from mcp.server import MCPServer

server = MCPServer("weather")


@server.tool()
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return '{"sky":"sunny"}'


server.run()
exporting.provider.shutdown()
