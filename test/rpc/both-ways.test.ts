import { expect, test } from "bun:test";
import { defineProtocol, type System, Type } from "../../src/index";
import { channelPair, createPeer, type Peer, type PeerOptions } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { Raw, request } from "./raw";

// Two sides that send much at the same time.

const { createTestSystem } = testSystems();

const Echo = defineProtocol("echo", {
  say: { payload: Type.Object({ text: Type.String() }), reply: Type.String() },
  fill: { payload: Type.Object({ length: Type.Number() }), reply: Type.String() },
});
const calls = { other: { protocol: Echo, methods: { say: "say", fill: "fill" } } } as const;
type Other = Peer<{ readonly other: typeof Echo }>;

/** Two peers, each of which serves the other one. */
function twoPeers(system: System, options: PeerOptions): readonly [Other, Other] {
  const echo = system.spawn(
    "echo",
    Echo,
    () => ({ say: ({ text }) => text, fill: ({ length }) => "x".repeat(length) }),
    { concurrency: 1_000 },
  );
  const serves = { say: { ref: echo, operation: "say" }, fill: { ref: echo, operation: "fill" } };
  const [here, there] = channelPair();
  return [
    createPeer(system, here, { ...options, serves, calls }),
    createPeer(system, there, { ...options, serves, calls }),
  ];
}

test("P8: two sides that ask more at once than may be unsent read each other's requests, and all are answered", async () => {
  const test = createTestSystem();
  const peers = twoPeers(test.system, { maxUnsent: 10_000, maxBytes: 10_000 });
  const text = "x".repeat(4_000);
  const asked = peers.flatMap(({ refs }) => [1, 2, 3].map(() => refs.other.ask("say", { text })));
  await test.settle();
  await test.advance(1_000);
  for (const reply of await Promise.all(asked)) expect(reply._unsafeUnwrap()).toBe(text);
  for (const peer of peers) peer.close();
});

test("P8: two sides with more answers than may be unsent read on for theirs, after a second, and refuse requests", async () => {
  const test = createTestSystem();
  const peers = twoPeers(test.system, { maxUnsent: 10_000 });
  const asked = peers.flatMap(({ refs }) => [1, 2, 3].map(() => refs.other.ask("fill", { length: 100_000 })));
  await test.settle();
  await test.advance(1_000);
  const kinds = (await Promise.all(asked)).map((reply) => (reply.isOk() ? reply.value.length : reply.error.kind));
  expect(new Set(kinds)).toEqual(new Set([100_000]));
  for (const peer of peers) peer.close();
});

test("P18: a side that reads no answers is not read for long, even while this side waits for one of its answers", async () => {
  const test = createTestSystem();
  const echo = test.system.spawn("echo", Echo, () => ({ say: ({ text }) => text, fill: () => "" }));
  const [here, there] = channelPair();
  const serves = { say: { ref: echo, operation: "say" } };
  const peer = createPeer(test.system, here, { serves, calls, maxUnsent: 10_000, stalledAfter: 5_000 });
  const raw = new Raw(there, test.clock);
  const waiting = peer.refs.other.ask("fill", { length: 1 }, { timeout: 60_000 });
  await test.settle();
  there.pause();
  let most = 0;
  for (let id = 0; id < 2_000; id++) {
    raw.say(request(id, "say", { text: "x".repeat(1_000) }));
    if (id % 10 === 0) await test.settle();
    if (id % 1_000 === 0) await test.advance(1_000);
    most = Math.max(most, here.unsent);
  }
  expect(most).toBeLessThan(30_000);
  expect(peer.counts.refused).toBeGreaterThan(10);
  await test.advance(5_000);
  expect(await peer.closed).toEqual(new Error("The other side has read nothing for 5000 ms."));
  expect((await waiting)._unsafeUnwrapErr().kind).toBe("timeout");
});

test("a text that is too large is refused by its bytes, with the whole of the message", async () => {
  const test = createTestSystem();
  const [{ refs }, peer] = twoPeers(test.system, { maxBytes: 1_000 });
  for (const text of ["é".repeat(600), "x".repeat(960)]) {
    const error = (await refs.other.ask("say", { text }))._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "payload-too-large", limit: 1_000 });
  }
  expect(peer.counts.received).toBe(0);
});
