import { describe, expect, test } from "bun:test";
import { type FetchOptions, spawnFetch } from "../../../../src/tools";
import { testSystems } from "../../../actor/test-system";
import { local, serve, serveRaw, turns } from "../kit";

const { createTestSystem } = testSystems();

/** A fetch actor on a clock that stands still; its names lead to this machine. */
function web(options: FetchOptions) {
  const test = createTestSystem();
  return { ...test, ref: spawnFetch(test.system, { resolve: () => ["127.0.0.1"], ...options }) };
}

describe("time", () => {
  test("a server that never answers: timeout, and its connection is closed", async () => {
    const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using server = await serveRaw((socket) => {
      socket.on("close", () => closed.resolve());
      asked.resolve();
    });
    const at = `http://a.test:${server.port}`;
    const { ref, clock } = web({ allow: [local(`${at}/*`)], timeout: 1_000 });
    const reply = ref.ask("get", { url: `${at}/` }, { timeout: 60_000 });
    await clock.settle();
    await asked.promise;
    await clock.advance(1_000);
    expect((await reply)._unsafeUnwrap()).toMatchObject({ ok: false, error: { kind: "timeout" } });
    await closed.promise;
  });

  test("a body that comes slowly has no more time than the whole of it", async () => {
    const sent = Promise.withResolvers<void>();
    await using server = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\na", () => sent.resolve());
    });
    const at = `http://a.test:${server.port}`;
    const { ref, clock } = web({ allow: [local(`${at}/*`)], timeout: 1_000 });
    const reply = ref.ask("get", { url: `${at}/` }, { timeout: 60_000 });
    await clock.settle();
    await sent.promise;
    await turns(20);
    await clock.advance(1_000);
    expect((await reply)._unsafeUnwrap()).toMatchObject({ ok: false, error: { kind: "timeout" } });
  });

  test("a resolver that never answers: timeout", async () => {
    const { ref, clock } = web({
      allow: ["https://a.test/*"],
      timeout: 1_000,
      resolve: () => new Promise<never>(() => {}),
    });
    const reply = ref.ask("get", { url: "https://a.test/" }, { timeout: 60_000 });
    await clock.advance(1_000);
    expect((await reply)._unsafeUnwrap()).toMatchObject({ ok: false, error: { kind: "timeout" } });
  });

  test("a stream ends by its own time, with an error as its last item", async () => {
    const sent = Promise.withResolvers<void>();
    await using server = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\na", () => sent.resolve());
    });
    const at = `http://a.test:${server.port}`;
    const { ref, clock } = web({ allow: [local(`${at}/*`)], timeout: 1_000, streamTimeout: 5_000 });
    const items: unknown[] = [];
    const reading = (async () => {
      for await (const item of ref.stream("requestStream", { url: `${at}/` })) items.push(item);
    })();
    await clock.settle();
    await sent.promise;
    for (let turn = 0; turn < 100_000 && items.length < 2; turn++) await clock.settle();
    expect(items.length).toBe(2);
    await clock.advance(5_000);
    await reading;
    expect(items.at(-1)).toMatchObject({ ok: false, error: { kind: "timeout" } });
  });

  test("P7: an asker that gives up closes the connection, and leaves no timer", async () => {
    const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using server = await serveRaw((socket) => {
      socket.on("close", () => closed.resolve());
      asked.resolve();
    });
    const at = `http://a.test:${server.port}`;
    const { ref, clock } = web({ allow: [local(`${at}/*`)] });
    const gone = new AbortController();
    const reply = ref.ask("get", { url: `${at}/` }, { signal: gone.signal });
    await clock.settle();
    await asked.promise;
    gone.abort();
    const told = await reply;
    expect(told.isErr() && told.error.kind).toBe("cancelled");
    await closed.promise;
    await clock.settle();
    expect(clock.heldTimers).toBe(0);
  });

  test("an actor that is stopped tells its asker, and closes the connection", async () => {
    const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using server = await serveRaw((socket) => {
      socket.on("close", () => closed.resolve());
      asked.resolve();
    });
    const at = `http://a.test:${server.port}`;
    const { system, ref, clock } = web({ allow: [local(`${at}/*`)] });
    const reply = ref.ask("get", { url: `${at}/` });
    await clock.settle();
    await asked.promise;
    const stopped = system.stop(ref);
    await clock.settle();
    await closed.promise;
    await stopped;
    const told = await reply;
    expect(told.isOk() ? told.value : told.error).toMatchObject(
      told.isOk() ? { ok: false, error: { kind: "stopped" } } : { kind: "stopped" },
    );
  });
});

test("as many requests as its concurrency are under way at once; the others wait", async () => {
  const answers: (() => void)[] = [];
  await using server = serve(() => new Promise((resolve) => answers.push(() => resolve(new Response("it")))));
  const at = `http://a.test:${server.port}`;
  const { ref, clock } = web({ allow: [local(`${at}/*`)], concurrency: 2 });
  const replies = Array.from({ length: 5 }, () => ref.ask("get", { url: `${at}/` }));
  for (let turn = 0; turn < 100_000 && answers.length < 2; turn++) await clock.settle();
  await turns(50);
  expect(answers.length).toBe(2);
  let done = 0;
  for (const reply of replies) void reply.then(() => done++);
  for (let turn = 0; turn < 100_000 && done < 5; turn++) {
    for (const answer of answers.splice(0)) answer();
    await clock.settle();
  }
  expect(server.heard.length).toBe(5);
  expect((await Promise.all(replies)).every((reply) => reply.isOk() && reply.value.ok)).toBe(true);
});
