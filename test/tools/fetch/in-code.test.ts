import { expect, test } from "bun:test";
import { runCode, spawnCodeExecution, typesFor } from "../../../src/tools";
import { local, serve, web } from "./kit";

const CODE = `
const told = [];
for (const url of input) {
  const reply = await tools.web.get({ url });
  told.push(reply.ok ? reply.value.content : reply.error.kind);
}
return told;
`;

test("code in the sandbox asks for what its owner allows, by the tool alone", async () => {
  await using server = serve(() => new Response("it"));
  const at = `http://a.test:${server.port}`;
  await using tool = web({ allow: [local(`${at}/open/*`)] });
  const tools = { web: { ref: tool.ref, operations: ["get"] } } as const;
  const code = spawnCodeExecution(tool.system, { languages: ["javascript"], tools });
  const input = [`${at}/open/1`, `${at}/closed`, "file:///etc/passwd", `http://127.0.0.1:${server.port}/open/1`];
  const ran = await runCode(code, { code: CODE, input });
  expect(ran._unsafeUnwrap().value).toEqual(["it", "not-allowed", "invalid-url", "not-allowed"]);
  expect(server.heard.length).toBe(1);
});

test("its declarations say what may be asked", async () => {
  await using tool = web({});
  const text = typesFor({ web: tool.ref });
  for (const part of ["get(", "request(", "requestStream(", "url: string", '"POST"', "maxBytes?: number"])
    expect(text).toContain(part);
});
