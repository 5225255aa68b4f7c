import { expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { hasBrowser, testBrowser } from "../browser";
import type { Frame } from "./client";
import { startService } from "./service";

const browser = testBrowser();
const ofAda = (request: Request) =>
  request.headers.get("authorization") === "Bearer of-ada" ? { id: "ada" } : undefined;
const ADA = ["envoi.v1", "bearer.of-ada"];

/** What a page keeps between two calls of `evaluate`. */
interface Kept {
  socket: WebSocket;
  frames: Frame[];
  closedWith: string;
}

/** Opens a socket in a page, by the browser's own WebSocket. Gives how it is, and why it was closed. */
const openSocket = (page: Page, url: URL, protocols: string[]): Promise<string> =>
  page.evaluate(
    (at, offered) =>
      new Promise<string>((resolve) => {
        const kept = globalThis as unknown as Kept; // A page's global object takes any property.
        kept.socket = new WebSocket(at, offered);
        kept.frames = [];
        kept.closedWith = "";
        kept.socket.onmessage = ({ data }) => {
          kept.frames.push(...JSON.parse(data));
          resolve(`open: ${kept.socket.protocol}`);
        };
        kept.socket.onclose = ({ code, reason }) => {
          kept.closedWith = `${code} ${reason}`.trim();
          resolve(`closed: ${kept.closedWith}`);
        };
      }),
    new URL("/socket", url).href.replace("http", "ws"),
    protocols,
  );

const send = (page: Page, ...frames: readonly Frame[]): Promise<void> =>
  page.evaluate((text) => (globalThis as unknown as Kept).socket.send(text), JSON.stringify(frames));

/** The frames that came to a page, once one of a kind is among them, about an id if one is given. */
async function framesWith(page: Page, kind: string, id?: string): Promise<Frame[]> {
  await page.waitForFunction(
    (want, about) =>
      (globalThis as unknown as Kept).frames.some(
        (frame) => frame.kind === want && (about === null || frame.id === about),
      ),
    {},
    kind,
    id ?? null,
  );
  return page.evaluate(() => (globalThis as unknown as Kept).frames);
}

async function closedWith(page: Page): Promise<string> {
  await page.waitForFunction(() => (globalThis as unknown as Kept).closedWith !== "");
  return page.evaluate(() => (globalThis as unknown as Kept).closedWith);
}

test.skipIf(!hasBrowser)(
  "Chromium's WebSocket speaks the protocol: asks, streams with credit, topics, and the end of the service",
  async () => {
    await using service = startService({ authenticate: ofAda });
    await using tab = await browser.open(new URL("/health", service.url));
    const { page } = tab;
    expect(await openSocket(page, service.url, ADA)).toBe("open: envoi.v1");
    await send(
      page,
      { kind: "subscribe", id: "t", topic: "changes" },
      { kind: "ask", id: "who", to: "desk", type: "who" },
      { kind: "ask", id: "two", to: "desk", type: "add", payload: "two" },
      { kind: "stream", id: "s", to: "desk", type: "ticks", payload: 3, credit: 2 },
    );
    await framesWith(page, "failure", "two");
    await framesWith(page, "items", "s");
    service.changes.publish("𝄞 é");
    await framesWith(page, "items", "t");
    await send(page, { kind: "credit", id: "s", count: 2 });
    const frames = await framesWith(page, "end", "s");
    const itemsOf = (id: string) => frames.flatMap((frame) => (frame.id === id ? (frame.items ?? []) : []));
    expect([itemsOf("s"), itemsOf("t")]).toEqual([[1, 2, 3], ["𝄞 é"]]);
    expect(frames.find(({ id }) => id === "who")?.payload).toEqual({ caller: "ada" });
    expect(frames.find(({ id }) => id === "two")?.problem).toMatchObject({ status: 400, kind: "invalid-payload" });

    await send(page, { kind: "ask", id: "wait", to: "desk", type: "wait" });
    await service.untilRunning(1);
    const drained = service.serving.gateway.drain(60_000);
    await framesWith(page, "goodbye");
    service.release();
    expect(await closedWith(page)).toBe("1012 The service ends: connect again.");
    expect((await framesWith(page, "reply", "wait")).at(-1)).toEqual({ kind: "reply", id: "wait", payload: null });
    await drained;
    expect(tab.errors).toEqual([]);
  },
  30_000,
);

test.skipIf(!hasBrowser)(
  "Chromium reads why its socket was closed; a handshake that is refused is 1006, as for each browser",
  async () => {
    await using service = startService({ authenticate: ofAda });
    await using tab = await browser.open(new URL("/health", service.url));
    const { page } = tab;
    expect(await openSocket(page, service.url, ["envoi.v1", "bearer.of-eve"])).toBe("closed: 1006");
    expect(await openSocket(page, service.url, ["envoi.v2"])).toBe("closed: 1006");
    const sends: readonly (readonly [(socket: WebSocket) => void, string])[] = [
      [(socket) => socket.send(new Uint8Array(3)), "1003 Frames are texts of JSON: send no bytes."],
      [(socket) => socket.send("{}"), "1007 A text is an array of frames."],
      [(socket) => socket.send(`["${"x".repeat(1_050_000)}"]`), "1009 A text has at most 1048576 bytes: send less."],
      [(socket) => socket.close(4000, "enough"), "4000 enough"],
    ];
    for (const [send, closed] of sends) {
      expect(await openSocket(page, service.url, ADA)).toBe("open: envoi.v1");
      await page.evaluate(`(${send})(socket)`);
      expect(await closedWith(page)).toBe(closed);
    }
  },
  30_000,
);

test.skipIf(!hasBrowser)(
  "P18: a page of another origin in Chromium opens no socket, unless cors lists it",
  async () => {
    using elsewhere = Bun.serve({ port: 0, fetch: () => new Response("a page of somebody else") });
    await using tab = await browser.open(elsewhere.url);
    await using closed = startService();
    expect(await openSocket(tab.page, closed.url, ["envoi.v1"])).toBe("closed: 1006");
    await using open = startService({ cors: { origins: [elsewhere.url.origin] } });
    expect(await openSocket(tab.page, open.url, ["envoi.v1"])).toBe("open: envoi.v1");
  },
  30_000,
);
