import { expect, test } from "bun:test";
import { createClient } from "envoi/http/client";
import { startService } from "../src/service";
import type { Settings } from "../src/settings";

const tokens = { "adas-t0ken-0123456789abcd": "ada", "the-t0ken-of-prometheus": "prometheus" };
const [ada, prometheus] = Object.keys(tokens).map((token) => ({ authorization: `Bearer ${token}` }));

/** A service at any free port, and a client of it. */
function start(settings: Partial<Settings> = {}) {
  const service = startService({ port: 0, tokens, rateLimit: "1000/s", ...settings });
  const client = createClient<typeof service>({ url: service.url, token: Object.keys(tokens)[0] ?? "" });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, service.url), { headers });
  return { client, get, [Symbol.asyncDispose]: async () => void (await service.stop({ streams: 0 })) };
}

/** Reads so many items of a stream, with the id of the last one, and then loses the connection. */
async function readItems(response: Response, count: number): Promise<{ items: unknown[]; id: string }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const ids = [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? "");
    const items = [...text.matchAll(/^data: (.+)\n\n/gm)].map(([, data]) => JSON.parse(data ?? ""));
    if (items.length >= count) return { items: items.slice(0, count), id: ids[count - 1] ?? "" };
  }
  throw new Error(`The stream ended early: ${text}`);
}

test("what was added can be taken, and no more", async () => {
  await using it = start();
  expect((await it.client.stock.ask("add", { item: "tea", count: 3 })).unwrapOr(null)).toEqual({
    item: "tea",
    left: 3,
  });
  const refused = await it.client.stock.ask("take", { item: "tea", count: 4 });
  expect(refused.unwrapOr(null)).toEqual({ refused: "There are fewer than 4 of tea." });
  await it.client.stock.ask("take", { item: "tea", count: 1 });
  expect((await it.client.stock.ask("levels")).unwrapOr(null)).toEqual([{ item: "tea", left: 2 }]);
});

test("what does not fit the schema is refused, and says where", async () => {
  await using it = start();
  const refused = await it.client.stock.ask("add", { item: "", count: 3.5 });
  if (refused.isOk()) throw new Error("It was taken.");
  expect(refused.error).toMatchObject({ kind: "invalid-payload", status: 400 });
  expect(refused.error.issues?.map(({ path }) => path).sort()).toEqual(["/count", "/item"]);
});

test("only callers with a token are let in, and the metrics are for Prometheus alone", async () => {
  await using it = start();
  const statuses = async (path: string) => {
    const answers = await Promise.all([it.get(path), it.get(path, ada), it.get(path, prometheus)]);
    return answers.map(({ status }) => status);
  };
  expect(await statuses("/actors/stock/levels")).toEqual([401, 200, 200]);
  expect(await statuses("/metrics")).toEqual([401, 403, 200]);
  expect(await statuses("/health")).toEqual([200, 200, 200]);
  expect(await statuses("/actors/feed/publish")).toEqual([401, 404, 404]); // Not exposed.
});

test("a reader that was cut off comes back, and gets what it missed", async () => {
  await using it = start();
  await it.client.stock.ask("add", { item: "tea", count: 3 });
  const first = await readItems(await it.get("/actors/feed/changes", ada), 1);
  expect(first.items).toEqual([{ item: "tea", left: 3 }]);
  await it.client.stock.ask("take", { item: "tea", count: 1 });
  await it.client.stock.ask("take", { item: "tea", count: 1 });
  const rest = await readItems(await it.get("/actors/feed/changes", { ...ada, "last-event-id": first.id }), 2);
  expect(rest.items).toEqual([2, 1].map((left) => ({ item: "tea", left })));
});

test("the client follows the changes", async () => {
  await using it = start();
  await it.client.stock.ask("add", { item: "tea", count: 3 });
  const seen: unknown[] = [];
  for await (const level of it.client.feed.stream("changes")) {
    seen.push(level);
    if (level.left === 0) break;
    await it.client.stock.ask("take", { item: "tea", count: 3 });
  }
  expect(seen).toEqual([3, 0].map((left) => ({ item: "tea", left })));
});

test("a caller that asks too often is told when to come back, and others are not touched", async () => {
  await using it = start({ rateLimit: "2/min" });
  const statuses: number[] = [];
  for (let n = 0; n < 3; n++) statuses.push((await it.get("/actors/stock/levels", ada)).status);
  expect(statuses).toEqual([200, 200, 429]);
  const refused = await it.get("/actors/stock/levels", ada);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await it.get("/actors/stock/levels", prometheus)).status).toBe(200);
});

test("SIGTERM ends it in order: readers are told to come back, and the process ends by the signal", async () => {
  const child = Bun.spawn([process.execPath, "src/main.ts"], {
    cwd: `${import.meta.dir}/..`,
    env: {
      ...process.env,
      PORT: "0",
      TOKENS: Object.entries(tokens)
        .map(([token, id]) => `${id}=${token}`)
        .join(),
    },
    stdout: "pipe",
  });
  const said = new TextDecoder().decode((await child.stdout.getReader().read()).value);
  const url = said.slice(said.indexOf("http")).trim();
  const reading = await fetch(`${url}actors/feed/changes`, ada && { headers: ada });
  child.kill("SIGTERM");
  expect(await reading.text()).toContain("event: reconnect");
  await child.exited;
  expect(child.signalCode).toBe("SIGTERM");
}, 20_000);
