// Call tools with an official TypeScript client and print the results: ERA CALLS-AS-JSON COMMAND...
import { argv, stdout } from "node:process";

const [era, calls, command, ...args] = argv.slice(2);
const home = era === "handshake" ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
const { Client } = await import(era === "handshake" ? `${home}/index.js` : home);
const { StdioClientTransport } = await import(era === "handshake" ? `${home}/stdio.js` : `${home}/stdio`);

const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command, args }));
await client.listTools(); // from here on the client validates results against the output schemas
const results = [];
for (const call of JSON.parse(calls)) {
  try {
    const { content, structuredContent, isError } = await client.callTool(call);
    results.push({ text: content[0].text, data: structuredContent ?? null, failed: isError ?? false });
  } catch (error) {
    results.push({ thrown: error.code });
  }
}
stdout.write(JSON.stringify(results));
await client.close();
