import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putAway } from "../../../benchmarks/harness/places";
import { installation } from "../../../benchmarks/subjects/installation";
import type { createClient as CreateClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, createTopic, defineProtocol, Type } from "../../../src/index";
import { hasBrowser, type Tab, testBrowser } from "../browser";
import { cuttingProxy } from "./cutting-proxy";

const Desk = defineProtocol("desk", {
  add: { payload: Type.Number(), reply: Type.Number() },
  who: { reply: Type.Unknown() },
  never: { reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Object({ tick: Type.Number(), text: Type.String() }) },
  endless: { stream: Type.Number() },
});
const Chat = defineProtocol("chat", { say: { payload: Type.String(), stream: Type.String() } });
const system = createSystem({ logger: { error() {}, warn() {} } });
const news = createTopic<string>("news");
let total = 0;
let aborted = 0;
let begun = 0;
let left = 0;
let said = 0;
const desk = system.spawn(
  "desk",
  Desk,
  (ctx) => ({
    add: (n) => (total += n),
    who: () => ctx.metadata,
    never() {
      ctx.onAbort(() => aborted++);
      return new Promise<number>(() => {});
    },
    async *ticks(most) {
      for (let tick = 1; tick <= most; tick++) yield { tick, text: "ä😀\n".repeat(tick % 3) };
    },
    async *endless() {
      begun++;
      try {
        for (let n = 1; ; n++) yield n;
      } finally {
        left++;
      }
    },
  }),
  { concurrency: 1_000 },
);

// The page, and the gateway at another origin.
const scripts = new Map<string, Blob>();
const page = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const script = scripts.get(new URL(url).pathname);
    return script !== undefined
      ? new Response(script, { headers: { "content-type": "text/javascript" } })
      : new Response(
          '<!doctype html><title>page</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
          {
            headers: { "content-type": "text/html" },
          },
        );
  },
});
const service = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  signals: [],
  cors: { origins: [page.url.origin] },
  authenticate: ({ headers }) => (headers.get("authorization") === "Bearer of-ada" ? { id: "ada" } : undefined),
  expose: {
    desk: { ref: desk, operations: { add: true, who: true, never: true, endless: true, ticks: { resume: {} } } },
  },
  topics: { news },
  sessions: {
    protocol: Chat,
    operations: ["say"],
    path: ":memory:",
    factory: () => ({
      say(text) {
        said++;
        return text.split(" ");
      },
    }),
  },
});
const url = service.url.href;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** In the page. */
declare const createClient: typeof CreateClient;
type Service = typeof service;

const browser = testBrowser();
let folder = "";
let tab: Tab;

describe.skipIf(!hasBrowser)("the client of the package in a page of another origin", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "envoi-page-"));
    cpSync(await installation(), folder, { recursive: true });
    cpSync(join(import.meta.dir, "page.ts"), join(folder, "page.ts"));
    const options = { target: "browser", splitting: true } as const;
    const { outputs } = await Bun.build({ entrypoints: [join(folder, "page.ts")], ...options });
    for (const output of outputs) scripts.set(output.path.slice(1), output);
    tab = await browser.open(page.url);
  }, 240_000);
  afterAll(async () => {
    putAway();
    await tab?.[Symbol.asyncDispose]();
    await service.stop({ streams: 0, timeout: 1 });
    await page.stop(true);
    await rm(folder, { recursive: true, force: true });
  });

  test("asks, and gives an error as a Result", async () => {
    const seen = await tab.page.evaluate(async (url) => {
      const { desk } = createClient<Service>({ url, token: "of-ada" });
      const stranger = createClient<Service>({ url, token: "of-eve" });
      const added = await desk.ask("add", 2);
      const told = await desk.tell("add", 3);
      // @ts-expect-error — no number
      const refused = await desk.ask("add", "two");
      return {
        added: added.unwrapOr(0),
        told: told.isOk(),
        refused: refused.match(String, ({ kind, status, issues }) => ({ kind, status, issues })),
        unknown: (await stranger.desk.ask("who")).match(String, ({ kind }) => kind),
        who: (await desk.ask("who")).unwrapOr(null),
      };
    }, url);
    expect(seen).toEqual({
      added: 2,
      told: true,
      refused: { kind: "invalid-payload", status: 400, issues: [{ path: "", message: "must be a number" }] },
      unknown: "unauthenticated",
      who: { caller: "ada" },
    });
    expect(total).toBe(5);
  });

  test("says what it cannot know: a service that is not there, a page that may not read, a redirect", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    await gone.stop(true);
    const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(7) }); // Without CORS.
    const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "*", location: url };
    const moved = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ method }) => new Response(null, { status: method === "OPTIONS" ? 204 : 307, headers }),
    });
    const urls = [gone.url.href, closed.url.href, moved.url.href];
    const errors = await tab.page.evaluate(async (urls) => {
      const answers = urls.map((url) => createClient<Service>({ url }).desk.ask("add", 1));
      return (await Promise.all(answers)).map((answer) => answer.match(String, ({ kind, message }) => [kind, message]));
    }, urls);
    const lost = 'The answer to add of "desk" was lost: nobody knows whether it was handled.';
    const redirected = 'add of "desk" was redirected: write the url of the gateway itself.';
    expect(errors).toEqual([
      ["unknown", lost],
      ["unknown", lost],
      ["invalid-response", redirected],
    ]);
    await closed.stop(true);
    await moved.stop(true);
  });

  test("goes on with a stream that is cut in the middle, and shows each item once", async () => {
    const proxy = await cuttingProxy(service.url, (connection) => (connection < 3 ? 1_500 : Number.POSITIVE_INFINITY));
    const read = await tab.page.evaluate(async (url) => {
      const retry = { first: 1, longest: 5 };
      const { desk } = createClient<Service>({ url, token: "of-ada", retry });
      const items: { tick: number; text: string }[] = [];
      for await (const item of desk.stream("ticks", 40, { repeatable: true })) items.push(item);
      return items;
    }, proxy.url);
    const expected = Array.from({ length: 40 }, (_, index) => ({
      tick: index + 1,
      text: "ä😀\n".repeat((index + 1) % 3),
    }));
    expect(read).toEqual(expected);
    expect(proxy.connections).toBeGreaterThan(1);
    proxy.close();
  });

  test("ends what its signal aborts, at the service too", async () => {
    const before = left;
    const kinds = await tab.page.evaluate(async (url) => {
      const kinds: string[] = [];
      for (const socket of [false, true]) {
        const client = createClient<Service>({ url, token: "of-ada", socket });
        const abort = new AbortController();
        const { signal } = abort;
        const stream = client.desk.stream("endless", undefined, { signal });
        await stream.next();
        const asked = client.desk.ask("never", undefined, { signal });
        const reached = client.desk.ask("add", 0); // Behind it, or beside it.
        await reached;
        abort.abort();
        kinds.push((await asked).match(String, ({ kind }) => kind));
        try {
          for await (const _ of stream);
        } catch (error) {
          kinds.push(Reflect.get(Object(error), "kind"));
        }
        client.close();
      }
      return kinds;
    }, url);
    expect(kinds).toEqual(["cancelled", "cancelled", "cancelled", "cancelled"]);
    while (left < before + 2 || aborted < 2) await turn();
  });

  test("has six streams by HTTP/1.1, the seventh says what to do, and a socket has them all", async () => {
    const before = begun;
    const seen = await tab.page.evaluate(async (url) => {
      const client = createClient<Service>({ url, token: "of-ada" });
      const six = Array.from({ length: 6 }, () => client.desk.stream("endless"));
      for (const stream of six) await stream.next();
      const seventh = createClient<Service>({ url, token: "of-ada", idle: 200 }).desk.stream("endless");
      const error = await seventh.next().then(String, ({ kind, message }) => [kind, message]);
      for (const stream of six) await stream.return?.();
      const one = createClient<Service>({ url, token: "of-ada", socket: true });
      const twenty = Array.from({ length: 20 }, () => one.desk.stream("endless"));
      const first = await Promise.all(twenty.map(async (stream) => (await stream.next()).value));
      one.close();
      return { error, first };
    }, url);
    expect(seen.error).toEqual(["timeout", expect.stringContaining("use a socket for many")]);
    expect(seen.first).toEqual(Array.from({ length: 20 }, () => 1));
    expect(begun - before).toBe(26);
  });

  test("speaks by a socket, and by the next one where that was cut", async () => {
    const proxy = await cuttingProxy(service.url, (connection) =>
      connection === 0 ? 1_500 : Number.POSITIVE_INFINITY,
    );
    const seen = await tab.page.evaluate(async (url) => {
      const client = createClient<Service>({ url, token: "of-ada", socket: true, retry: { first: 1, longest: 5 } });
      const who = (await client.desk.ask("who")).unwrapOr(null);
      const items: number[] = [];
      let kind = "end";
      try {
        for await (const { tick } of client.desk.stream("ticks", 1_000)) items.push(tick);
      } catch (error) {
        kind = Reflect.get(Object(error), "kind");
      }
      const again = await Array.fromAsync(client.desk.stream("ticks", 30));
      client.close();
      return { who, kind, isInOrder: items.every((item, index) => item === index + 1), again: again.length };
    }, proxy.url);
    expect(seen).toEqual({ who: { caller: "ada" }, kind: "unknown", isInOrder: true, again: 30 });
    expect(proxy.connections).toBe(2);
    proxy.close();
  });

  test("has sessions: a message that is cut is handled once, and the log is read again", async () => {
    const proxy = await cuttingProxy(service.url, (connection) => (connection < 6 ? 1_200 : Number.POSITIVE_INFINITY));
    const text = Array.from({ length: 30 }, (_, n) => `word${n}`).join(" ");
    const seen = await tab.page.evaluate(
      async (url, cut, text) => {
        Object.defineProperty(crypto, "randomUUID", { value: undefined }); // A page by http has none.
        const { sessions } = createClient<Service>({ url, token: "of-ada" });
        const { id } = (await sessions.create({ title: "A trip" }))._unsafeUnwrap();
        const retry = { first: 1, longest: 5, attempts: 30 };
        const session = createClient<Service>({ url: cut, token: "of-ada", retry }).sessions.at(id);
        let message = 0;
        const stream = session.stream("say", text, { onMessage: (number) => (message = number) });
        const words = await Array.fromAsync(stream);
        const events = await Array.fromAsync(session.events({ message }));
        const page = (await sessions.list())._unsafeUnwrap();
        await sessions.at(id).delete();
        return {
          message,
          words: words.join(" "),
          logged: events.flatMap(({ event, data }) => (event === "message" ? [data] : [])).join(" "),
          listed: page.sessions.map(({ metadata }) => metadata),
        };
      },
      url,
      proxy.url,
      text,
    );
    expect(seen).toEqual({ message: 1, words: text, logged: text, listed: [{ title: "A trip" }] });
    expect(said).toBe(1);
    proxy.close();
  });

  test("subscribes to a topic, and again where the socket was cut", async () => {
    const proxy = await cuttingProxy(service.url, (connection) =>
      connection === 0 ? 1_000 : Number.POSITIVE_INFINITY,
    );
    const reading = tab.page.evaluate(async (url) => {
      const client = createClient<Service>({ url, token: "of-ada", retry: { first: 1, longest: 5 } });
      const gaps: (number | null)[] = [];
      const items: string[] = [];
      for await (const item of client.subscribe("news", { onGap: (missed) => void gaps.push(missed) })) {
        items.push(item);
        if (gaps.length === 2) break;
      }
      client.close();
      return { gaps, count: items.length, isOnce: new Set(items).size === items.length };
    }, proxy.url);
    let isRead = false;
    void reading.then(() => (isRead = true));
    for (let n = 1; !isRead; n++) {
      if (news.size > 0) news.publish(`item ${n}`);
      await turn();
    }
    expect(await reading).toEqual({ gaps: [null, null], count: expect.any(Number), isOnce: true });
    expect(proxy.connections).toBe(2);
    proxy.close();
  });
});
