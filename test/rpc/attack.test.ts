import { expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../src/index";
import { channelPair, createPeer, type Peer } from "../../src/rpc/index";
import { recordIn, testSystems } from "../actor/test-system";
import { methodsOf, serveDesk, spawnDesk } from "./desk";
import { type Message, Raw, request } from "./raw";
import { Stranger } from "./stranger";

// Attacks by a hostile side, with valid messages and with invalid ones.

const { createTestSystem } = testSystems();

const refused = { jsonrpc: "2.0", id: null, error: { code: -32600, message: expect.any(String) } };

test("P18: a batch in a batch is no message, and what is beside it is answered, ids of odd kinds in their place", async () => {
  const test = createTestSystem();
  const { raw, peer } = serveDesk(test);
  const ids = [null, "", 0, -0, 9_007_199_254_740_991, 9_007_199_254_740_992, 0.5, "\ud800", ["a"], { id: 1 }];
  raw.say([[request(1, "sum", [1])], [[[[]]]], ...ids.map((id) => request(id, "sum", [2]))]);
  await test.settle();
  const [answers] = raw.take() as unknown as Message[][]; // One batch.
  const right = [null, "", 0, 9_007_199_254_740_991, "\ud800"].map((id) => ({ jsonrpc: "2.0", id, result: 2 }));
  expect(answers).toEqual([...Array(7).fill(refused), ...right]); // The id -0 is the id 0, which is under way.
  expect([peer.serving, peer.counts.refused]).toEqual([0, 7]);
});

test("P7: a connection that its own handler closes in the middle of a batch answers nothing more, and aborts the rest", async () => {
  const test = createTestSystem();
  const Closer = defineProtocol("closer", { close: { payload: Type.Object({}), reply: Type.String() } });
  const { desk, log } = spawnDesk(test.system);
  const closer = test.system.spawn("closer", Closer, () => ({
    close() {
      peer.close();
      peer.close();
      return "closed";
    },
  }));
  const [here, there] = channelPair();
  const raw = new Raw(there, test.clock);
  const peer: Peer = createPeer(test.system, here, {
    serves: { ...methodsOf(desk), close: { ref: closer, operation: "close" } },
  });
  raw.say([request(1, "wait", { name: "first" }), request(2, "close", {}), request(3, "wait", { name: "last" })]);
  await test.settle();
  expect([raw.take(), raw.isClosed, peer.serving]).toEqual([[], true, 0]);
  expect(log.aborted.toSorted()).toEqual(["first", "last"]);
  expect(await peer.closed).toBeUndefined();
  test.takeFailures();
  test.takeLog();
});

test("P2: two connections to one actor may use the same ids at once, and each gets its own answers in order", async () => {
  const test = createTestSystem();
  const { desk } = spawnDesk(test.system);
  const raws = [10, 20].map((summand) => {
    const [here, there] = channelPair();
    createPeer(test.system, here, { serves: methodsOf(desk) });
    return { summand, raw: new Raw(there, test.clock) };
  });
  for (let id = 1; id <= 300; id++) for (const { raw, summand } of raws) raw.say(request(id, "sum", [summand, id]));
  await test.settle();
  for (const { raw, summand } of raws) {
    expect(raw.take()).toEqual(
      Array.from({ length: 300 }, (_, index) => ({ jsonrpc: "2.0", id: index + 1, result: summand + index + 1 })),
    );
  }
});

test("P18: a line of 100 MB is refused once, and the request behind it is answered", async () => {
  await using system = createSystem({ logger: recordIn([]) });
  const stranger = new Stranger();
  const peer = createPeer(system, stranger.channel, { serves: methodsOf(spawnDesk(system).desk) });
  const block = `"${"[".repeat(999_999)}`;
  const answer = stranger.answerTo("next");
  stranger.pour([...Array(100).fill(block), `"\n${JSON.stringify(request("next", "sum", [1, 2]))}\n`]);
  expect(await answer).toEqual({ jsonrpc: "2.0", id: "next", result: 3 });
  expect([peer.counts.received, peer.counts.refused, stranger.heard]).toEqual([2, 1, 2]);
  peer.close();
});
