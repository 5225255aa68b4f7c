import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type ServeOptions, serve } from "../../src/http/index";
import { createSystem, defineProtocol } from "../../src/index";
import { Counter, createCounter } from "./counter";

const silent = { warn() {}, error() {} };

function start(options: Partial<ServeOptions> = {}) {
  const system = createSystem({ logger: silent });
  const ref = system.spawn("counter", Counter, createCounter, { concurrency: 4 });
  const operations = { add: true, total: true, never: true, echo: true, ticks: { resume: {} } } as const;
  const expose = { counter: { ref, operations } };
  const serving = serve(system, { port: 0, hostname: "127.0.0.1", signals: [], ...options, expose });
  const post = (path: string, body: string) =>
    fetch(new URL(path, serving.url), { method: "POST", body, headers: { "content-type": "application/json" } });
  return { system, ref, post, ...serving };
}

/** Writes bytes to a server, and gives all that comes back until it closes the connection, or the text is there. */
function raw(port: number, bytes: string, until: string | RegExp = /$^/): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const end = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.on("data", (chunk) => {
      text += chunk.toString();
      if (typeof until === "string" ? text.includes(until) : until.test(text)) end();
    });
    socket.on("close", end);
    socket.on("error", reject);
  });
}

const head = (length: number | string, more = ""): string =>
  `POST /actors/counter/add HTTP/1.1\r\nhost: service\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${more}\r\n`;

describe("a server", () => {
  test("answers at its url, and ends", async () => {
    const { url, post, stop } = start();
    expect(url.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await (await post("/actors/counter/add", "2")).json()).toBe(2);
    expect(await stop()).toEqual({ unfinished: [] });
    await expect(post("/actors/counter/add", "2")).rejects.toThrow();
  });

  test("P13: stops once, however often it is told to", async () => {
    let closed = 0;
    const { stop, system } = start({ parts: [() => ({ routes: [], close: () => void closed++ })] });
    const reports = await Promise.all([stop(), stop({ timeout: 1 }), system.shutdown(), stop()]);
    expect(new Set(reports.map((report) => JSON.stringify(report)))).toEqual(new Set(['{"unfinished":[]}']));
    expect(closed).toBe(1);
  });

  test("whose port is in use says so, closes what its gateway had open, and leaves no listener of signals", async () => {
    const first = start();
    let closed = 0;
    const listeners = process.listenerCount("SIGTERM");
    const again = () =>
      start({
        port: Number(first.url.port),
        signals: ["SIGTERM"],
        parts: [() => ({ routes: [], close: () => void closed++ })],
      });
    expect(again).toThrow(`Port ${first.url.port} is in use: end its server, or give another port.`);
    expect([closed, process.listenerCount("SIGTERM")]).toEqual([1, listeners]);
    await first.stop();
  });

  test.each([
    [{ port: 70_000 }, /port of a server is a whole number from 0 to 65535; got 70000/],
    [{ port: "3000" }, /port of a server is a whole number/],
    [{ hostname: 4 }, /hostname of a server is a text/],
    [{ prot: 1 }, /no option "prot" for a server; write one of expose, .*port, hostname, signals, shutdown/],
    [
      { shutdown: { stream: 1 } },
      /no option "stream" for the shutdown of a server; write one of streams, timeout, drain/,
    ],
    [{ shutdown: { streams: -1 } }, /number of milliseconds from 0/],
    [{ signals: ["SIGKILL"] }, /No process can catch SIGKILL/],
  ])("refuses options that cannot be, and listens nowhere: %p", (options, sentence) => {
    // These are what the compiler refuses, and JavaScript does not.
    expect(() => start(options as Partial<ServeOptions>)).toThrow(sentence);
  });

  test("refuses options of stop that cannot be", async () => {
    const { stop } = start();
    expect(() => stop({ timeout: -1 })).toThrow(/number of milliseconds from 0/);
    await stop();
  });

  test("P18: a response that authenticate gives twice is answered with a problem, and not with Bun's page of the error", async () => {
    const both = Promise.withResolvers<void>();
    const no = new Response("no", { status: 401 });
    let asked = 0;
    const { url, stop } = start({
      async authenticate() {
        if (++asked === 2) both.resolve();
        await both.promise;
        return no;
      },
    });
    const ask = async () => {
      const { status, headers } = await fetch(new URL("/actors/counter/total", url));
      return [status, headers.get("content-type")];
    };
    const failed = [500, "application/problem+json"];
    const answers = await Promise.all([ask(), ask()]); // Both have it before it is sent.
    expect(answers).toContainEqual([401, "text/plain;charset=utf-8"]);
    expect(answers).toContainEqual(failed);
    expect(await ask()).toEqual(failed);
    await stop();
  });

  test("P7: a client that goes away ends its ask", async () => {
    const Wait = defineProtocol("wait", { wait: {} });
    const system = createSystem();
    const begun = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const ref = system.spawn("waiter", Wait, (ctx) => ({
      wait() {
        begun.resolve();
        ctx.onAbort(() => left.resolve());
        return left.promise;
      },
    }));
    const { url, stop } = serve(system, { port: 0, signals: [], expose: { waiter: { ref, operations: ["wait"] } } });
    const client = new AbortController();
    const asked = fetch(new URL("/actors/waiter/wait", url), { method: "POST", signal: client.signal });
    const failed = asked.catch((thrown) => thrown); // Heard before it fails.
    await begun.promise;
    client.abort();
    await left.promise;
    expect(await failed).toBeInstanceOf(Error);
    await stop();
  });
});

const SIGTERM_LIMIT = 20_000;

test(
  "P13: a SIGTERM in the middle of requests loses none: those that run are answered, then actors, parts and port end",
  async () => {
    const program = `${import.meta.dir}/programs/serving.ts`;
    const child = Bun.spawn([process.execPath, program], { stdout: "pipe", stderr: "inherit" });
    const lines: string[] = [];
    const answers: Promise<number>[] = [];
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of child.stdout) {
      text += decoder.decode(chunk, { stream: true });
      const complete = text.split("\n");
      text = complete.pop() ?? "";
      for (const line of complete) {
        lines.push(line);
        if (lines.length === 1) {
          for (let n = 0; n < 16; n++) {
            const url = `http://127.0.0.1:${line}/actors/worker/work`;
            const asked = fetch(url, {
              method: "POST",
              body: String(n),
              headers: { "content-type": "application/json" },
            });
            answers.push(asked.then(async (response) => Number(await response.text())));
          }
        }
        if (line === "busy") child.kill("SIGTERM");
      }
    }
    await child.exited;
    expect((await Promise.all(answers)).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n));
    expect(lines.slice(1)).toEqual(["busy", "drained", "actors stopped", "parts closed"]);
    expect(child.signalCode).toBe("SIGTERM");
  },
  SIGTERM_LIMIT,
);

describe("P18: bytes that no client of good faith sends", () => {
  const service = start({ limits: { body: 1_000, bodyTime: 300 } });
  const port = Number(service.url.port);

  test.each([
    ["too long by its header", head(5_000_000), /^HTTP\/1.1 413 [\s\S]*"payload-too-large"/],
    ["cut short, and slow", `${head(100)}[1,`, /^HTTP\/1.1 408 [\s\S]*"slow-request"/],
    ["of a length that is no number", `${head("ten")}1`, /^HTTP\/1.1 400 /],
    ["of two lengths", head(1, "content-length: 2\r\n"), /^HTTP\/1.1 400 /],
    ["with a length and chunks", `${head(1, "transfer-encoding: chunked\r\n")}1`, /^HTTP\/1.1 400 /],
    [
      "in chunks beyond the limit",
      `POST /actors/counter/add HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n${"1".repeat(2_000)}\r\n`,
      /^HTTP\/1.1 413 [\s\S]*"payload-too-large"/,
    ],
    [
      "in chunks of no length",
      "POST /actors/counter/add HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n1\r\n",
      /^HTTP\/1.1 400 /,
    ],
    ["with a giant header", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"a".repeat(100_000)}\r\n\r\n`, /^HTTP\/1.1 431 /],
    ["no HTTP", "hello\r\n\r\n", /^HTTP\/1.1 400 /],
  ])("a request %s is answered with a status", async (_, bytes, answer) => {
    expect(await raw(port, bytes, answer)).toMatch(answer);
  });

  test("a body that goes on beyond the limit, or is giant by its header, ends the connection; one that is not is passed over", async () => {
    const chunked = `${head(0).replace(/content-length.*\r\n/, "transfer-encoding: chunked\r\n")}7d0\r\n${"1".repeat(2_000)}\r\n`;
    for (const bytes of [chunked, head(1_000_000)]) expect(await raw(port, bytes)).toMatch(/^HTTP\/1.1 413 /);
    const next = `${head(2_000)}${"1".repeat(2_000)}${head(1)}0`;
    expect(await raw(port, next, /413[\s\S]*200 OK/)).toMatch(/^HTTP\/1.1 413 [\s\S]*200 OK/);
  });

  test("a header that comes twice is refused where one of the two would have to be chosen", async () => {
    expect(await raw(port, `${head(1, "content-type: text/plain\r\n")}1`, "}")).toMatch(/^HTTP\/1.1 415 /);
    const open = "GET /actors/counter/ticks?input=1 HTTP/1.1\r\nhost: a\r\n";
    const stream = await raw(port, `${open}\r\n`, "event: end\ndata: {}");
    const [, id = ""] = /^id: (.*):1$/m.exec(stream) ?? [];
    const from = (...numbers: number[]) => numbers.map((number) => `last-event-id: ${id}:${number}\r\n`).join("");
    expect(await raw(port, `${open}${from(1)}\r\n`, "event: end\ndata: {}")).toMatch(/^HTTP\/1.1 200 /);
    expect(await raw(port, `${open}${from(1, 0)}\r\n`, "}")).toMatch(/^HTTP\/1.1 400 /);
  });

  test("a body that comes late and whole is read; and the connection serves the next request", async () => {
    const two = `${head(1)}5${head(1)}6`;
    expect(await raw(port, two, /5[\s\S]*11$/)).toMatch(/200 OK[\s\S]*5[\s\S]*200 OK[\s\S]*11$/);
  });

  test("a host that looks like a path leads nowhere else", async () => {
    const bytes = "GET /nothing HTTP/1.1\r\nhost: a/actors/counter/total?\r\n\r\n";
    expect(await raw(port, bytes, "}")).toMatch(/^HTTP\/1.1 40[04] /);
  });

  test("the server goes on", async () => {
    expect((await service.post("/actors/counter/total", "")).status).toBe(200);
    await service.stop();
  });
});
