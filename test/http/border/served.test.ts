import { expect, test } from "bun:test";
import { bearerTokens } from "../../../src/http/index";
import { Client } from "../socket/client";
import { startService } from "../socket/service";

test("P18: a message over a socket and its handshake count like requests of its caller; what is too much is told, and the socket goes on", async () => {
  const authenticate = bearerTokens({ "of-ada": "ada", "of-bob": "bob" });
  await using service = startService({ authenticate, rateLimit: { all: "4/d", operations: { "desk.add": "1/d" } } });
  const ofAda = { authorization: "Bearer of-ada" };
  const client = await new Client(service.url, { headers: ofAda }).welcome();
  expect(await client.ask("1", "desk", "add", 2)).toMatchObject({ kind: "reply", payload: 2 });
  const refused = await client.ask("2", "desk", "add", 2);
  expect(refused).toMatchObject({ kind: "failure", problem: { status: 429, kind: "too-many-requests" } });
  const total = { method: "POST", headers: ofAda };
  const asked = await fetch(new URL("/actors/desk/total", service.url), total);
  expect([asked.status, asked.headers.get("ratelimit")]).toEqual([200, '"4/d";r=0;t=21600']);
  expect((await fetch(new URL("/actors/desk/total", service.url), total)).status).toBe(429);
  expect(await client.ask("3", "desk", "total")).toMatchObject({ kind: "failure", problem: { status: 429 } });
  const other = await new Client(service.url, { headers: { authorization: "Bearer of-bob" } }).welcome();
  expect(await other.ask("1", "desk", "total")).toMatchObject({ kind: "reply", payload: 2 });
});

test("P18: those who are not known are counted by the address of their socket", async () => {
  await using service = startService({ rateLimit: "2/d" });
  const ask = () => fetch(new URL("/actors/desk/total", service.url), { method: "POST" });
  const answers = [await ask(), await ask(), await ask()];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[2]?.headers.get("retry-after")).toBe("43200");
});
