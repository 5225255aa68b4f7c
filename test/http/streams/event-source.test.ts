import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { hasBrowser, type Tab, testBrowser } from "../browser";
import { cuttingProxy } from "../client/cutting-proxy";
import { post } from "./event-reader";
import { Pushed, spawnFeed } from "./feeds";

const browser = testBrowser();

/** Follows streams by the browser's own `EventSource`, and keeps what it shows by name. */
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script>
const shown = {};
function follow(name, url, isOne) {
  const source = new EventSource(url);
  const events = (shown[name] = []);
  for (const type of ["message", "end", "error", "reconnect", "request"]) {
    source.addEventListener(type, (event) => {
      if (event.data === undefined) return; // The connection was lost: it comes back by itself.
      events.push([type, JSON.parse(event.data)]);
      if (type === "end" && isOne) source.close();
    });
  }
}
</script>`;

const pageServer = () =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(PAGE, { headers: { "content-type": "text/html" } }),
  });

/** Follows a stream. `isOne` closes it at its end, as a page does; else it would come back. */
const follow = ({ page }: Tab, name: string, url: string, isOne = false): Promise<unknown> =>
  page.evaluate(`follow(${JSON.stringify(name)}, ${JSON.stringify(url)}, ${isOne})`);

describe.skipIf(!hasBrowser)("The EventSource of Chromium", () => {
  const { system, ref } = spawnFeed();
  const pages = pageServer();
  const gateway = createGateway(system, {
    cors: { origins: [pages.url.origin] },
    expose: { feed: { ref, operations: { ticks: { resume: {} }, later: { resume: {} } } } },
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => gateway.fetch(request, server),
  });
  afterAll(async () => {
    await gateway.drain(0);
    await system.shutdown();
    await gateway.close();
    await Promise.all([server.stop(true), pages.stop(true)]);
  });

  test("shows each event once where its connection is cut after N bytes", async () => {
    await using tab = await browser.open(pages.url);
    const proxies: { readonly url: string; readonly connections: number; close(): void }[] = [];
    // One stream comes as a whole, and the other one in chunks, which may be fewer the next time: its end is not cut.
    for (const [path, least] of [
      ["/actors/feed/ticks?input=5", 1],
      ["/actors/feed/later?input=5", 4],
    ] as const) {
      const body = (await (await fetch(server.url.origin + path)).arrayBuffer()).byteLength;
      const through = async (bytes: (connection: number) => number) => {
        const proxy = await cuttingProxy(server.url, bytes);
        proxies.push(proxy);
        await follow(tab, proxy.url, proxy.url + path, true);
        return proxy;
      };
      const whole = await through(() => Number.POSITIVE_INFINITY);
      await tab.page.waitForFunction(`shown["${whole.url}"].length === 6`);
      // Before the answer, before the first event, between events, in the middle of them, and in the last one. Chromium takes a head that is
      // cut off for a whole one, and gives up where the content type or the leave of CORS was in the rest: nothing is cut there.
      const parts = 16;
      const rests = [
        whole.longest,
        ...Array.from({ length: parts }, (_, part) => Math.ceil((body * (part + 1)) / parts)),
      ];
      for (const rest of rests.filter((rest) => rest >= (body * least) / parts)) {
        await through((connection) => (connection === 0 ? whole.longest - rest : Number.POSITIVE_INFINITY));
      }
    }
    await tab.page.waitForFunction(`Object.values(shown).every((all) => all.at(-1)?.[0] === "end")`);
    const expected = [...[1, 2, 3, 4, 5].map((tick) => ["message", tick]), ["end", {}]];
    expect(await tab.page.evaluate("shown")).toEqual(Object.fromEntries(proxies.map(({ url }) => [url, expected])));
    const uncut = proxies.filter(({ connections }) => connections === 1);
    // The two whole ones, and of the chunked ones those that came in so few chunks that the cut lay beyond their end.
    expect(uncut.length).toBeWithin(2, 6);
    for (const proxy of proxies) proxy.close();
  }, 60_000);
});

describe.skipIf(!hasBrowser)("The EventSource of Chromium, and a server that goes away", () => {
  const Chat = defineProtocol("chat", { say: { payload: Type.String(), stream: Type.Unknown() } });
  const folder = mkdtempSync(join(tmpdir(), "envoi-event-source-"));
  const replies = { first: new Pushed(), second: new Pushed() };
  const pages = pageServer();

  /** A service with sessions in a file, which another one opens after it. */
  function service() {
    const system = createSystem();
    const gateway = createGateway(system, {
      cors: { origins: [pages.url.origin] },
      expose: {},
      sessions: {
        protocol: Chat,
        operations: ["say"],
        path: join(folder, "sessions.sqlite"),
        factory: (ctx) => ({ say: (text) => (text === "first" ? replies.first : replies.second).items(ctx.signal) }),
      },
    });
    const stop = async (): Promise<void> => {
      await gateway.drain(0);
      await system.shutdown();
      await gateway.close();
    };
    return { gateway, stop };
  }

  let current = Promise.resolve(service());
  const come: string[] = [];
  let bare = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request, server) {
      const { pathname } = new URL(request.url);
      if (pathname === "/bare") {
        come.push("bare");
        bare = Promise.withResolvers();
        return eventsUntil(bare.promise, pages.url.origin);
      }
      if (pathname.endsWith("/events")) come.push("session");
      return (await current).gateway.fetch(request, server);
    },
  });
  afterAll(async () => {
    await (await current).stop();
    await Promise.all([server.stop(true), pages.stop(true)]);
    rmSync(folder, { recursive: true });
  });

  test("comes back after its retry, and shows each event of a session once", async () => {
    const made = await fetch(new URL("sessions", server.url), { method: "POST" });
    const session = new URL(made.headers.get("location") ?? "", server.url).href;
    const say = (payload: string): Promise<Response> =>
      fetch(post(`${session}/messages`, { operation: "say", payload }, { prefer: "respond-async" }));
    await using tab = await browser.open(pages.url);
    await follow(tab, "bare", `${server.url}bare`);
    await follow(tab, "session", `${session}/events`);
    replies.first.push("a");
    await say("first");
    await tab.page.waitForFunction("shown.session.length === 2");
    const old = await current;
    current = old.stop().then(service);
    bare.resolve(); // It tells no time: Chromium comes back after 3 seconds.
    await current;
    replies.second.push("b");
    replies.second.end();
    await say("second");
    await tab.page.waitForFunction("shown.bare.length === 2 && shown.session.at(-1)[0] === 'end'");
    expect(come).toEqual(["bare", "session", "session", "bare"]);
    const { session: shown } = (await tab.page.evaluate("shown")) as { session: [string, unknown][] }; // So the page made it.
    expect(shown.filter(([type]) => type !== "reconnect")).toEqual([
      ["request", { operation: "say", payload: "first" }],
      ["message", "a"],
      ["error", expect.objectContaining({ kind: "unavailable" })],
      ["request", { operation: "say", payload: "second" }],
      ["message", "b"],
      ["end", {}],
    ]);
  }, 30_000);
});

/** A bare stream of one event, which ends in time. */
function eventsUntil(end: Promise<void>, origin: string): Response {
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue("data: 1\n\n");
      await end;
      controller.close();
    },
  });
  const headers = { "content-type": "text/event-stream", "access-control-allow-origin": origin };
  return new Response(body, { headers });
}
