import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createGateway } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { hasBrowser, type Tab, testBrowser } from "../browser";
import { Pushed } from "./feeds";

const Assistant = defineProtocol("assistant", {
  /** The payload is what `useChat` sends. */
  chat: {
    payload: Type.Object({ id: Type.String(), messages: Type.Array(Type.Unknown()) }),
    stream: Type.Unknown(),
  },
});

const browser = testBrowser();

describe.skipIf(!hasBrowser)("The AI SDK's React hook in Chromium", () => {
  const system = createSystem();
  let reply = new Pushed();
  const chat = (signal: AbortSignal) => ({ chat: () => reply.items(signal) });
  const ref = system.spawn("assistant", Assistant, (ctx) => chat(ctx.signal), { concurrency: 4 });
  const gateway = createGateway(system, {
    expose: { assistant: { ref, operations: { chat: { format: "ai-sdk", resume: {} } } } },
    sessions: {
      protocol: Assistant,
      operations: { chat: { format: "ai-sdk" } },
      path: ":memory:",
      factory: (ctx) => chat(ctx.signal),
    },
  });
  let script = "";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, server) {
      const { pathname } = new URL(request.url);
      if (pathname === "/chat.js") return new Response(script, { headers: { "content-type": "text/javascript" } });
      if (pathname !== "/") return gateway.fetch(request, server);
      const page =
        '<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script src="/chat.js"></script>';
      return new Response(page, { headers: { "content-type": "text/html" } });
    },
  });
  beforeAll(async () => {
    const built = await Bun.build({
      entrypoints: [join(import.meta.dir, "pages/chat.js")],
      target: "browser",
      define: { "process.env.NODE_ENV": '"production"' },
    });
    script = (await built.outputs[0]?.text()) ?? "";
  }, 20_000);
  afterAll(async () => {
    await gateway.drain(0);
    await system.shutdown();
    await gateway.close();
    await server.stop(true);
  });

  /** Waits until the page shows an answer, and no other one. */
  async function shows({ page }: Tab, text: string, status: string): Promise<void> {
    await page.waitForFunction(
      `document.querySelector("#chat[data-status=${status}]") !== null
        && [...document.querySelectorAll(".assistant")].map((each) => each.textContent).join("|") === ${JSON.stringify(text)}`,
    );
  }

  test.each(["an operation", "an operation of a session"])(
    "shows the text of %s as it comes, and resumes it when the page is loaded anew in the middle",
    async (which) => {
      reply = new Pushed();
      let query = "api=/actors/assistant/chat";
      if (which.endsWith("session")) {
        const made = await fetch(`${server.url}sessions`, { method: "POST" });
        query = `api=${made.headers.get("location")}/messages&operation=chat`;
      }
      await using tab = await browser.open(`${server.url}?${query}`);
      const { page } = tab;
      await shows(tab, "", "ready"); // There is nothing to resume yet.
      await page.click("button");
      reply.push("Once ");
      await shows(tab, "Once ", "streaming");
      reply.push("upon ");
      await shows(tab, "Once upon ", "streaming");
      await page.reload();
      await shows(tab, "Once upon ", "streaming");
      reply.push("a time");
      reply.end();
      await shows(tab, "Once upon a time", "ready");
      expect(await page.$eval("main", (main) => main.getAttribute("data-error"))).toBe("");
      expect(await page.$$eval(".user", (all) => all.map((each) => each.textContent))).toEqual(["Tell a story"]);
      expect(tab.errors).toEqual([]);
    },
    30_000,
  );
});
