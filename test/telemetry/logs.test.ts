import { afterEach, describe, expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import { trace as api, context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { createSystem, defineProtocol, Type } from "envoi";
import { consoleLogger, logFields, logs, pinoLogger } from "envoi/telemetry";
import { createManualClock } from "envoi/testing";
import pino from "pino";

const Text = defineProtocol("text", {
  shout: { payload: Type.String(), reply: Type.String() },
  fail: { payload: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
});
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;

/** Pino into a list of lines. */
function pinoLines(options: pino.LoggerOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false, ...options }, { write: (text) => lines.push(JSON.parse(text)) });
  return { lines, log };
}

const spawnText = (system: ReturnType<typeof createSystem>, say: (text: string) => unknown) =>
  system.spawn("text", Text, () => ({
    async shout(words) {
      say("before");
      await new Promise<void>((resolve) => setImmediate(resolve));
      say("after");
      return words;
    },
    fail(secret) {
      throw Object.assign(new Error("it failed", { cause: new TypeError("why") }), { config: { headers: { secret } } });
    },
    async *count(most) {
      for (let number = 1; number <= most; number++) {
        say(`number ${number}`);
        yield number;
      }
    },
  }));

afterEach(() => context.disable());

describe("lines of handlers", () => {
  test("each line of a handler carries actor, operation and the trace of its message, also behind its awaits", async () => {
    const { lines, log } = pinoLines({ mixin: logFields });
    const system = createSystem();
    logs(system);
    const text = spawnText(system, (said) => log.info(said));
    await text.ask("shout", "hello", { metadata: { traceparent } });
    await Array.fromAsync(text.stream("count", 2));
    log.info("outside");
    const fields = {
      actor: "@(text)",
      operation: "shout",
      trace_id: TRACE,
      span_id: "b7ad6b7169203331",
      trace_flags: "01",
    };
    expect(lines).toEqual([
      { level: 30, ...fields, msg: "before" },
      { level: 30, ...fields, msg: "after" },
      { level: 30, actor: "@(text)", operation: "count", msg: "number 1" },
      { level: 30, actor: "@(text)", operation: "count", msg: "number 2" },
      { level: 30, msg: "outside" },
    ]);
  });

  test("P16: a thousand handlers at once never get each other's fields", async () => {
    const { lines, log } = pinoLines({ mixin: logFields });
    const system = createSystem();
    logs(system);
    const ids = Array.from({ length: 1_000 }, (_, index) => (index + 1).toString(16).padStart(32, "0"));
    const text = system.spawn(
      "text",
      Text,
      (ctx) => ({
        async shout(words) {
          for (let step = 0; step < 3; step++) {
            await new Promise<void>((resolve) => setImmediate(resolve));
            log.info({ of: words, is: String(ctx.metadata["traceparent"]).slice(3, 35) }, "");
          }
          return words;
        },
        fail() {},
        *count() {},
      }),
      { concurrency: 100 },
    );
    await Promise.all(
      ids.map((id) =>
        text.ask("shout", id, { metadata: { traceparent: `00-${id}-b7ad6b7169203331-01` }, timeout: 60_000 }),
      ),
    );
    expect(lines.length).toBe(3_000);
    expect(lines.filter((line) => line["of"] !== line["trace_id"])).toEqual([]);
  });

  test("lines that a handler writes by system.log carry them too, and the logger still runs in the system's context", async () => {
    const { lines, log } = pinoLines();
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const logger = pinoLogger(log);
    const system = createSystem({
      logger: {
        ...logger,
        warn(message, details) {
          seen.push(storage.getStore());
          logger.warn(message, details);
        },
      },
    });
    logs(system);
    const text = spawnText(system, (said) => storage.run("the handler's", () => system.log.warn(said, { own: 1 })));
    await text.ask("shout", "hello", { metadata: { traceparent } });
    expect(lines[0]).toEqual({
      level: 40,
      actor: "@(text)",
      operation: "shout",
      trace_id: TRACE,
      span_id: "b7ad6b7169203331",
      trace_flags: "01",
      own: 1,
      msg: "envoi: before",
    });
    expect(seen).toEqual([undefined, undefined]);
  });

  test("a span that is active is told: that of a database call inside of a handler", async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const { lines, log } = pinoLines({ mixin: logFields });
    const tracer = new TracerProvider().getTracer("test");
    const system = createSystem();
    logs(system);
    const ids: string[] = [];
    const text = spawnText(system, (said) =>
      tracer.startActiveSpan("query", (span) => {
        ids.push(span.spanContext().spanId);
        log.info(said);
        span.end();
      }),
    );
    await text.ask("shout", "hello");
    expect(lines.map((line) => line["span_id"])).toEqual(ids);
    api.disable();
  });

  test("removed, it leaves nothing behind", async () => {
    const { lines, log } = pinoLines({ mixin: logFields });
    const system = createSystem();
    logs(system)();
    await spawnText(system, (said) => log.info(said)).ask("shout", "hello");
    expect(lines).toEqual([
      { level: 30, msg: "before" },
      { level: 30, msg: "after" },
    ]);
  });
});

describe("what a system logs", () => {
  test("a failure: the sentence, the handler and its trace, and the error in pino's form, without the error's own properties", async () => {
    const { lines, log } = pinoLines();
    const system = createSystem({ logger: pinoLogger(log), supervision: { decide: () => "resume" } });
    logs(system);
    const text = spawnText(system, () => {});
    text.tell("fail", "the secret", { metadata: { traceparent } });
    await text.ask("shout", "");
    expect(lines).toEqual([
      {
        level: 50,
        actor: "@(text)",
        operation: "fail",
        trace_id: TRACE,
        span_id: "b7ad6b7169203331",
        trace_flags: "01",
        err: {
          type: "Error",
          message: "it failed: why", // As pino writes an error that has a cause.
          stack: expect.stringMatching(/^Error: it failed\n {4}at fail [\s\S]*caused by: TypeError: why\n/),
        },
        msg: expect.stringContaining("it failed"),
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("the secret");
  });

  test.each([
    ["pino's own serializer", {}, []],
    [
      "errWithCause",
      { serializers: { err: pino.stdSerializers.errWithCause } },
      [1, 2, 3, 4].flatMap((depth) => ["message", "stack"].map((part) => `err${".cause".repeat(depth)}.${part}`)),
    ],
  ])("by redact, the texts of an error and of its causes are in no line: %s", (_, options, deeper) => {
    const { lines, log } = pinoLines({ ...options, redact: ["err.message", "err.stack", ...deeper] });
    const errorOf = (depth: number): Error =>
      new Error(`secret ${depth}`, depth < 6 ? { cause: errorOf(depth + 1) } : { cause: "secret 7" });
    pinoLogger(log).error("It failed", { cause: errorOf(0) });
    pinoLogger(log).error("They failed", { err: new AggregateError([new Error("secret 1")], "secret 0") });
    expect(lines.map(({ msg }) => msg)).toEqual(["It failed", "They failed"]);
    expect(lines[0]?.["err"]).toMatchObject({ type: "Error", message: "[Redacted]", stack: "[Redacted]" });
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  test("a failure of a stream or an ask that somebody else logs is told with the handler and its trace", async () => {
    const { lines, log } = pinoLines();
    const logger = pinoLogger(log);
    const system = createSystem({ logger, supervision: { decide: () => "resume" } });
    logs(system);
    const text = spawnText(system, () => {
      throw new Error("it failed");
    });
    const options = { metadata: { traceparent } };
    for (const items of [
      text.stream("count", 1, options),
      (await text.ask("shout", "x", options))._unsafeUnwrapErr(),
    ]) {
      const cause = "kind" in items ? items : await Array.fromAsync(items).catch((thrown: unknown) => thrown);
      logger.error("A request failed", { cause });
    }
    const fields = { actor: "@(text)", trace_id: TRACE, msg: "A request failed" };
    expect(lines).toMatchObject([
      { ...fields, operation: "count" },
      { ...fields, operation: "shout" },
    ]);
  });

  test("a dead letter: its reason and address, and nothing of its payload", async () => {
    const { lines, log } = pinoLines();
    const system = createSystem({ logger: pinoLogger(log) });
    const text = spawnText(system, () => {});
    await system.stop(text);
    text.tell("fail", "the secret");
    expect(lines).toMatchObject([{ level: 40, operation: "fail", reason: "stopped", address: "@(text)" }]);
    expect(JSON.stringify(lines)).not.toContain("the secret");
  });

  test("the console gets time, level, sentence, handler, trace, details and error, in this order", async () => {
    const clock = createManualClock(Date.UTC(2026, 0, 2));
    const written: string[] = [];
    const write = (text: string): void => void written.push(text);
    const console = { debug: write, info: write, warn: write, error: write };
    const json = consoleLogger({ format: "json", clock, console, level: "debug" });
    const text = consoleLogger({ clock, console });
    const system = createSystem();
    logs(system);
    const actor = spawnText(system, () => {
      for (const logger of [json, text]) logger.info("two\nlines", { size: 3, cause: new RangeError("too many") });
    });
    await actor.ask("shout", "", { metadata: { traceparent } });
    const line = JSON.parse(written[0] ?? "");
    expect(Object.keys(line)).toEqual([
      "time",
      "level",
      "msg",
      "actor",
      "operation",
      "trace_id",
      "span_id",
      "trace_flags",
      "size",
      "err",
    ]);
    expect(line).toMatchObject({ time: "2026-01-02T00:00:00.000Z", level: "info", msg: "two\nlines", size: 3 });
    const [first, second] = (written[1] ?? "").split("\n");
    expect(first).toBe(
      `2026-01-02T00:00:00.000Z INFO  two lines actor=@(text) operation=shout trace_id=${TRACE} span_id=b7ad6b7169203331 trace_flags=01 size=3`,
    );
    expect(second).toStartWith("    RangeError: too many");
    written.length = 0;
    text.debug("not written");
    json.debug("written", { big: 1n, circle: clock });
    text.warn("odd", { text: "a b=c", circular: Object.assign([], { 0: written }) });
    expect(written.length).toBe(2);
  });

  test.each([
    ["no level", { level: "verbose" }, "The level of a consoleLogger is one of debug, info, warn, error"],
    ["no format", { format: "xml" }, 'The format of a consoleLogger is "text" or "json"'],
    ["a misspelt option", { levle: "info" }, 'There is no option "levle" for a consoleLogger'],
  ])("%s is refused", (_, options, sentence) => {
    // A mistake that the compiler would tell.
    expect(() => consoleLogger(options as Parameters<typeof consoleLogger>[0])).toThrow(sentence);
    expect(() => pinoLogger(console.log as never)).toThrow("The logger of pinoLogger is one of pino");
  });

  test("a terminal obeys nothing that a stranger's text has in it", () => {
    const written: string[] = [];
    const write = (line: string): void => void written.push(line);
    const logger = consoleLogger({ console: { debug: write, info: write, warn: write, error: write } });
    const evil = "\u001b]0;x\u0007\u009b2J";
    logger.error(evil, { [`${evil}\n`]: evil, path: `a ${evil}`, err: new Error(evil) });
    expect(written.join()).not.toMatch(/[^\P{Cc}\n]/u);
    const json = consoleLogger({ format: "json", console: { debug: write, info: write, warn: write, error: write } });
    json.info("true", { level: "error", msg: "false" });
    expect(written.at(-1)).toMatch(/^\{"time":"[^"]+","level":"info","msg":"true"\}$/);
  });

  test("a line is written whatever its error is: a text, a circle of causes, a proxy that throws", () => {
    const { lines, log } = pinoLines();
    const logger = pinoLogger(log);
    const circle = new Error("a");
    circle.cause = circle;
    const proxy = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    for (const cause of ["text", circle, proxy, null, 1n]) logger.error("it failed", { cause });
    logger.error("it failed", null as never);
    logger.error("it failed", {
      get user() {
        throw new Error("no");
      },
    });
    expect(lines.length).toBe(7);
  });
});
