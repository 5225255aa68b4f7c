import { expect, test } from "bun:test";
import { address, createMessage, type DeliveryError, type OfferOptions, type Result } from "../../src/index";
import { differences } from "../differences";
import { Gated, spawnGated } from "./gated";
import { expectBalance, reasonsOf, testSystems } from "./test-system";

const { createTestSystem, createTestRouter } = testSystems();

type Offered = Promise<Result<void, DeliveryError>>;

const errorOf = async (offered: Offered): Promise<DeliveryError> => (await offered)._unsafeUnwrapErr();

/** An actor that handles "running" and has "queued" in a mailbox of one place, for which senders may wait. */
async function full() {
  const test = createTestSystem();
  const gated = spawnGated(test, { capacity: 1, overflow: "wait" });
  gated.ref.tell("work", "running");
  await test.clock.settle();
  gated.ref.tell("work", "queued");
  return { ...test, gated };
}

test("P11: an offer to a mailbox with room is taken at once, and leaves no timer", async () => {
  const { system, clock } = createTestSystem();
  for (const options of [{}, { capacity: 1, overflow: "wait" }] as const) {
    const gated = spawnGated(
      { system, clock },
      options,
      `gated-${options === undefined ? "" : Object.keys(options).length}`,
    );
    const offered = gated.ref.offer("work", "a");
    expect(clock.timers).toBe(0);
    expect((await offered).isOk()).toBe(true);
    await gated.drain();
    expect(gated.begun).toEqual(["a"]);
  }
});

test("P11: an offer waits for room, and is a tell like any other from then on", async () => {
  const { gated, clock, system, router } = await full();
  let isTaken = false;
  const offered = gated.ref.offer("work", "offered", { timeout: 100 }).then((result) => {
    isTaken = true;
    return result;
  });
  await clock.advance(99);
  expect(isTaken).toBe(false);
  expect(system.inspect()[0]?.queued).toBe(2);
  expectBalance(router.audit());
  await gated.release(); // "queued" is handled, and leaves its place.
  expect((await offered)._unsafeUnwrap()).toBeUndefined();
  expect(clock.timers).toBe(0);
  await clock.advance(1_000); // Its timeout is over, and nothing comes of it.
  await gated.drain();
  expect(gated.begun).toEqual(["running", "queued", "offered"]);
});

test("P11: each message that is given up in the mailbox leaves its place, one after the other", async () => {
  const { system, clock, deadLetters } = createTestSystem();
  const { ref, drain, begun } = spawnGated({ system, clock }, { capacity: 1, overflow: "wait" });
  ref.tell("work", "running");
  await clock.settle();
  const askers = [new AbortController(), new AbortController()];
  const asks = askers.map(({ signal }, index) => ref.ask("work", `asked ${index}`, { signal }));
  const offered = ref.offer("work", "offered");
  let isTaken = false;
  void offered.then(() => {
    isTaken = true;
  });
  askers[0]?.abort();
  await clock.settle();
  expect(isTaken).toBe(false); // The second ask has the place now.
  askers[1]?.abort();
  await clock.settle();
  expect(isTaken).toBe(true);
  await drain();
  expect((await Promise.all(asks)).map((reply) => reply.isErr())).toEqual([true, true]);
  expect([begun, reasonsOf(deadLetters)]).toEqual([
    ["running", "offered"],
    ["cancelled", "cancelled"],
  ]);
});

test("P11: an offer waits for the system's askTimeout unless it says otherwise; then it is a dead letter that was told", async () => {
  const { gated, clock, deadLetters, router } = await full();
  const offered = gated.ref.offer("work", "offered");
  const told: string[] = [];
  void errorOf(offered).then(({ kind }) => told.push(kind));
  await clock.advance(4_999);
  expect(told).toEqual([]);
  await clock.advance(1);
  expect(told).toEqual(["timeout"]);
  const error = await errorOf(offered);
  expect(error).toMatchObject({ kind: "timeout", timeout: 5_000, address: address("gated"), operation: "work" });
  expect(error.undelivered.payload).toBe("offered");
  expect(deadLetters.map(({ reason, asked }) => ({ reason, asked }))).toEqual([{ reason: "timeout", asked: true }]);
  expectBalance(router.audit());
  expect(clock.timers).toBe(0);
  await gated.drain();
  expect(gated.begun).toEqual(["running", "queued"]);
});

test("P11: askTimeout is that of the system, and Infinity waits for ever", async () => {
  const test = createTestSystem({ askTimeout: 10 });
  const gated = spawnGated(test, { capacity: 1, overflow: "wait" });
  gated.ref.tell("work", "running");
  await test.clock.settle();
  gated.ref.tell("work", "queued");
  const short = gated.ref.offer("work", "short");
  const endless = gated.ref.offer("work", "endless", { timeout: Number.POSITIVE_INFINITY });
  await test.clock.advance(10);
  expect((await errorOf(short)).kind).toBe("timeout");
  expect(test.clock.timers).toBe(0);
  await test.clock.advance(1_000_000);
  await gated.drain();
  expect((await endless).isOk()).toBe(true);
  expect(gated.begun).toEqual(["running", "queued", "endless"]);
});

test("P11: those that wait for room keep their order, whatever they are", async () => {
  const { gated, clock, router } = await full();
  const all: Promise<unknown>[] = [];
  const expected = ["running", "queued"];
  for (let i = 0; i < 12; i++) {
    const label = `w${i}`;
    expected.push(label);
    if (i % 4 === 0) all.push(gated.ref.offer("work", label));
    else if (i % 4 === 1) all.push(gated.ref.ask("work", label));
    else if (i % 4 === 2) all.push(gated.ref.stream("items", label).next());
    else all.push(router.offer(createMessage(address("gated"), "work", label)));
  }
  await clock.settle();
  const streams = expected.filter((_, i) => i > 1 && (i - 2) % 4 === 2);
  for (let i = 0; i < expected.length; i++) {
    expectBalance(router.audit());
    await gated.release();
  }
  await Promise.all(all);
  expect(gated.begun.slice(0, 5)).toEqual(expected.slice(0, 5));
  expect(streams).toHaveLength(3);
  await gated.drain();
  expect(gated.begun).toEqual(expected);
});

test("P11: who leaves in the middle does not hold up those behind", async () => {
  const { gated, clock, deadLetters, router } = await full();
  const stops = Array.from({ length: 5 }, () => new AbortController());
  const results = stops.map(({ signal }, i) =>
    i % 2 === 0 ? gated.ref.offer("work", `w${i}`, { signal }) : gated.ref.ask("work", `w${i}`, { signal }),
  );
  stops[2]?.abort("enough");
  stops[3]?.abort("enough");
  await clock.settle();
  expect(reasonsOf(deadLetters)).toEqual(["cancelled", "cancelled"]); // At once: their place in the line is free.
  expect(router.audit()).toMatchObject({ queued: 4, running: 1 });
  await gated.drain();
  const kinds = (await Promise.all(results)).map((result) => (result.isOk() ? "ok" : result.error.kind));
  expect(kinds).toEqual(["ok", "ok", "cancelled", "cancelled", "ok"]);
  expect(gated.begun).toEqual(["running", "queued", "w0", "w1", "w4"]);
});

test("P11: an offer whose signal was aborted before is not sent", async () => {
  const { gated, router, deadLetters } = await full();
  const { accepted } = router.audit();
  const error = await errorOf(gated.ref.offer("work", "offered", { signal: AbortSignal.abort("never") }));
  expect(error).toMatchObject({ kind: "cancelled", reason: "never" });
  expect(router.audit().accepted).toBe(accepted);
  expect(deadLetters).toEqual([]);
  await gated.drain();
});

test("P11: an aborted signal ends the wait, with the signal's reason", async () => {
  const { gated, clock } = await full();
  const stop = new AbortController();
  const offered = gated.ref.offer("work", "offered", { signal: stop.signal });
  await clock.advance(10);
  stop.abort("enough");
  expect(await errorOf(offered)).toMatchObject({ kind: "cancelled", reason: "enough" });
  await clock.settle();
  expect(clock.timers).toBe(0);
  await gated.drain();
  expect(gated.begun).toEqual(["running", "queued"]);
});

test("P11: once the mailbox has it, an offer cannot be taken back, and listens to its signal no more", async () => {
  const { gated } = await full();
  const stop = new AbortController();
  const offered = gated.ref.offer("work", "offered", { signal: stop.signal });
  await gated.release();
  expect((await offered).isOk()).toBe(true);
  stop.abort();
  await gated.drain();
  expect(gated.begun).toEqual(["running", "queued", "offered"]);
});

test("P6: an offer listens to its signal no longer than it waits", async () => {
  const { gated, clock } = await full();
  let listeners = 0;
  const { signal } = new AbortController();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  const taken = gated.ref.offer("work", "taken", { signal });
  const late = gated.ref.offer("work", "late", { signal, timeout: 10 });
  expect(listeners).toBe(1); // One for all that wait for the same signal.
  await gated.release();
  expect((await taken).isOk()).toBe(true);
  await clock.advance(10);
  expect((await errorOf(late)).kind).toBe("timeout");
  expect(listeners).toBe(0);
  await gated.drain();
});

test("P11: what an offer put into the mailbox and is dropped later is a dead letter that nobody was told of", async () => {
  const test = createTestSystem();
  const gated = spawnGated(test, { capacity: 1, overflow: "drop-oldest" });
  gated.ref.tell("work", "running");
  await test.clock.settle();
  const offered = await gated.ref.offer("work", "offered");
  gated.ref.tell("work", "newer");
  expect(offered.isOk()).toBe(true);
  expect(test.deadLetters.map(({ reason, asked }) => ({ reason, asked }))).toEqual([
    { reason: "mailbox-full", asked: false },
  ]);
  await gated.drain();
});

test("P11: an offer that waits while its actor stops comes back stopped", async () => {
  const { gated, system, takeLog } = await full();
  const offers = [gated.ref.offer("work", "a"), gated.ref.offer("work", "b")];
  const stopped = system.stop(gated.ref);
  for (const offered of offers) expect((await errorOf(offered)).kind).toBe("stopped");
  await gated.release();
  await stopped;
  expect((await errorOf(gated.ref.offer("work", "c"))).kind).toBe("stopped");
  expect(takeLog()).toHaveLength(1); // "queued" was a tell.
});

test("P11: an offer that waits while its actor is abandoned comes back stopped", async () => {
  const { gated, system, clock, takeLog } = await full();
  const offered = gated.ref.offer("work", "a", { timeout: 1_000 });
  const report = system.shutdown({ timeout: 10, drain: true });
  await clock.advance(10);
  expect((await errorOf(offered)).kind).toBe("stopped");
  expect((await report).unfinished).toEqual([gated.ref.address]);
  expect(clock.timers).toBe(1); // The window of the log.
  takeLog();
});

test("P11: an offer goes on waiting while its actor restarts, in its place and in its time", async () => {
  const test = createTestSystem({ supervision: { backoff: { initial: 50, jitter: 0 } } });
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const fragile = test.system.spawn(
    "fragile",
    Gated,
    () => ({
      async work(label) {
        seen.push(label);
        if (label !== "break") return label;
        await gate.promise;
        throw new Error("broken");
      },
      poke: () => "",
      items: () => [],
    }),
    { capacity: 1, overflow: "wait" },
  );
  fragile.tell("work", "break");
  await test.clock.settle();
  fragile.tell("work", "queued");
  const first = fragile.offer("work", "first", { timeout: 1_000 });
  const short = fragile.offer("work", "short", { timeout: 40 });
  const last = fragile.offer("work", "last", { timeout: 1_000 });
  gate.resolve();
  await test.clock.advance(40);
  expect((await errorOf(short)).kind).toBe("timeout"); // While it waits to begin anew.
  await test.clock.advance(10);
  expect([(await first).isOk(), (await last).isOk()]).toEqual([true, true]);
  expect(seen).toEqual(["break", "queued", "first", "last"]);
  expect(test.takeLog()).toHaveLength(1);
});

test("P11: an operation without a payload is offered with the options in its place", async () => {
  const { gated, clock } = await full();
  const offered = gated.ref.offer("poke", { timeout: 5 });
  await clock.advance(5);
  expect(await errorOf(offered)).toMatchObject({ kind: "timeout", timeout: 5 });
  const second = gated.ref.offer("poke");
  await gated.drain();
  expect((await second).isOk()).toBe(true);
  expect(gated.begun).toEqual(["running", "queued", "poke"]);
});

test("P11: what the actor does not take is refused, and said", async () => {
  const { gated } = await full();
  const { ref } = gated;
  // @ts-expect-error: the protocol has no such operation.
  expect((await errorOf(ref.offer("rest"))).kind).toBe("unknown-operation");
  // @ts-expect-error: a stream is read, not offered.
  expect((await errorOf(ref.offer("items", "a"))).kind).toBe("unknown-operation");
  await gated.drain();
  const strict = createTestSystem({ validate: "always" });
  const checked = spawnGated(strict, { capacity: 1, overflow: "wait" });
  // @ts-expect-error: the payload is a text.
  expect((await errorOf(checked.ref.offer("work", 7))).kind).toBe("invalid-payload");
});

test("P11: options of an offer that cannot be ones throw at once, and nothing is sent", async () => {
  const { router } = createTestRouter();
  const { gated, router: systemRouter } = await full();
  const before = systemRouter.audit();
  const message = createMessage(address("gated"), "work", "a");
  const bad: object[] = [{ timeout: 0 }, { timeout: -1 }, { timeout: Number.NaN }, { timeout: "1" }];
  for (const options of bad as OfferOptions[]) {
    expect(() => gated.ref.offer("work", "a", options)).toThrow(RangeError);
    expect(() => systemRouter.offer(message, options)).toThrow(RangeError);
    expect(() => router.offer(message, options)).toThrow(RangeError); // Where nobody is.
  }
  const noSignal = { signal: {} } as OfferOptions; // What a JavaScript program may pass.
  expect(() => gated.ref.offer("work", "a", noSignal)).toThrow(TypeError);
  expect(() => router.offer(message, noSignal)).toThrow(TypeError);
  expect(systemRouter.audit()).toEqual(before);
  expect(router.audit().accepted).toBe(0);
  await gated.drain();
});

test("P11: router.offer tells what it found: room, nobody, or no message", async () => {
  const { router, deadLetters } = createTestRouter();
  const seen: unknown[] = [];
  router.register(address("echo"), (message) => void seen.push(message.payload));
  expect((await router.offer(createMessage(address("echo"), "say", 1))).isOk()).toBe(true);
  expect((await errorOf(router.offer(createMessage(address("nobody"), "say", 2)))).kind).toBe("no-recipient");
  expect(deadLetters.map(({ reason, asked }) => ({ reason, asked }))).toEqual([
    { reason: "no-recipient", asked: true },
  ]);
  // @ts-expect-error: no message.
  expect(() => router.offer("hi")).toThrow(TypeError);
  expect(seen).toEqual([1]);
});

test("P2: a tell that finds room never overtakes who waits for it", async () => {
  const { gated, takeLog } = await full();
  const offered = gated.ref.offer("work", "offered");
  await gated.release(); // A place is free, and taken at once.
  gated.ref.tell("work", "told");
  expect((await offered).isOk()).toBe(true);
  await gated.drain();
  expect(gated.begun).toEqual(["running", "queued", "offered"]);
  expect(takeLog()).toHaveLength(1);
});

test("P11: ten thousand offers wait for one place, in order, and each leaves no timer", async () => {
  const { gated, clock } = await full();
  const offers = Array.from({ length: 10_000 }, (_, i) => gated.ref.offer("work", String(i), { timeout: 60_000 }));
  const stop = gated.ref.offer("poke");
  for (let i = 0; i < 10_003; i++) {
    await gated.release();
    if (i % 2_500 === 0) expect(gated.begun.length).toBe(Math.min(i + 2, 10_003));
  }
  expect((await Promise.all(offers)).every((offered) => offered.isOk())).toBe(true);
  await stop;
  const wanted = offers.map((_, i) => String(i));
  expect(differences(gated.begun.slice(2, 10_002), wanted)).toEqual([]);
  await clock.settle();
  expect(clock.timers).toBe(0);
});
