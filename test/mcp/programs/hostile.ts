/** A server of protocol 2025-11-25 that is written by hand, and does what it should not. */
export {};

const say = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (said: string) => ({ content: [{ type: "text", text: said }] });

const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const tools = [
  { name: "lie", inputSchema: { type: "object" }, outputSchema },
  ...["flood", "count", "giant", "noise", "odd"].map((name) => ({ name, inputSchema: { type: "object" } })),
];

let lists = 0;
let token: unknown;
const calls: Readonly<Record<string, () => object | Promise<object>>> = {
  lie: () => ({ ...text("1"), structuredContent: { n: "one" } }),
  flood() {
    for (let time = 0; time < 1_000; time++) say({ method: "notifications/tools/list_changed" });
    return text("flooded");
  },
  count: () => text(String(lists)),
  giant: () => text("a".repeat(1_000_000)),
  async odd() {
    const none = ['"progress":1e999', '"progress":1,"total":-1e999', '"progress":2,"message":7', '"progress":-5'];
    const giant = `"progress":3,"message":"${"a".repeat(100_000)}"`;
    for (const rest of [...none, giant, giant, giant, giant]) {
      const params = `{"progressToken":${JSON.stringify(token)},${rest}}`;
      process.stdout.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}\n`);
      await Bun.sleep(5); // An asker hears of progress once a turn.
    }
    return text("odd");
  },
  noise() {
    process.stdout.write("this is no JSON\n[1,2\n\n{}\n");
    say({ id: 999_999, result: {} });
    say({ id: "none", error: { code: -1, message: "nobody asked" } });
    say({ method: "notifications/progress", params: { progressToken: 77, progress: 1 } });
    return text("still here");
  },
};

for await (const line of console) {
  if (line === "") break; // Its client has gone.
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    say({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "hostile", version: "1" } } });
  } else if (method === "tools/list") {
    lists++;
    say({ id, result: { tools } });
  } else if (method === "tools/call") {
    token = params._meta?.progressToken;
    say({ id, result: await calls[params.name]?.() });
  } else if (id !== undefined) say({ id, error: { code: -32_601, message: "Method not found" } });
}
