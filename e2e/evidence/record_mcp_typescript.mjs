// Records what MCP's SDK for TypeScript says between a client and a server, which run
// in this process.
//
//   node record_mcp_typescript.mjs      needs @modelcontextprotocol/sdk
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// The packages may be in the current directory, so that none are installed here.
const require = createRequire(join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { InMemoryTransport } = await load("@modelcontextprotocol/sdk/inMemory.js");
const { z } = await load("zod");

const here = dirname(new URL(import.meta.url).pathname);
const folder = resolve(here, "../../internal/agent/evidence/internal/normal/testdata/mcp.message");
let manifest = require.resolve("@modelcontextprotocol/sdk/client/index.js");
while (!manifest.endsWith(join("@modelcontextprotocol", "sdk"))) manifest = dirname(manifest);
const { version } = JSON.parse(readFileSync(join(manifest, "package.json"), "utf8"));

const server = new McpServer({ name: "orders", version: "1.4.0" });
server.registerTool(
  "delete_order",
  { description: "Deletes an order.", inputSchema: { orderId: z.string() }, annotations: { destructiveHint: true, openWorldHint: false } },
  async ({ orderId }) => ({ content: [{ type: "text", text: `deleted ${orderId}` }] }),
);
server.registerTool("fail", { description: "Fails." }, async () => ({ content: [{ type: "text", text: "out of order" }], isError: true }));

const heard = [];
const [near, far] = InMemoryTransport.createLinkedPair();
for (const side of [near, far]) {
  const send = side.send.bind(side);
  side.send = (message, options) => {
    heard.push(structuredClone(message));
    return send(message, options);
  };
}
await server.connect(far);
const client = new Client({ name: "recorder", version: "1" });
await client.connect(near);
await client.listTools();
await client.callTool({ name: "delete_order", arguments: { orderId: "o-1" } });
await client.callTool({ name: "fail", arguments: {} });
await client.callTool({ name: "delete_order", arguments: { orderId: 1 } }).catch(() => {});
// An error of the protocol, as opposed to one of a tool.
await client.request({ method: "tools/call", params: { name: 1 } }, z.any()).catch(() => {});
await client.close();

mkdirSync(folder, { recursive: true });
heard.forEach((message, i) => {
  const said = (message.method ?? ("result" in message ? "result" : "error")).replaceAll("/", "_");
  const name = `typescript_${String(i).padStart(2, "0")}_${said}`;
  const event = { data: message, id: name, source: "//recorded/mcp.message", subject: "session-typescript", time: "2026-11-17T12:00:00Z", type: "mcp.message" };
  writeFileSync(join(folder, name + ".json"), JSON.stringify({ event, made_by: `@modelcontextprotocol/sdk ${version}` }, null, 2) + "\n");
});
