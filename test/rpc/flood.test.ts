import { expect, test } from "bun:test";
import { createSystem } from "../../src/index";
import { createPeer } from "../../src/rpc/index";
import { recordIn } from "../actor/test-system";
import { methodsOf, spawnDesk } from "./desk";
import { request } from "./raw";
import { EVERY, FLOOD, flood, Heap, rightAnswers, Stranger } from "./stranger";

const WRONG = [
  '{"jsonrpc":"2.0","id":1,"method":"sum","params":["a","b","c"]}',
  '{"jsonrpc":"2.0","id":2,"method":"no such method","params":{}}',
  '{"jsonrpc":"2.0","id":3.5,"method":"sum","params":[1]}',
  '{"jsonrpc":"2.0","id":4,"method":"sum","params":{"__proto__":{}}}',
  '{"jsonrpc":"2.0","id":99,"result":1}',
  '{"jsonrpc":"2.0","method":"sum","params":[true]}',
  '{"jsonrpc":"2.0","id":5,"method":"wait","params":{"names":"a"}}',
  "[1,2,3]",
  "{",
  "[]",
  `"${"x".repeat(2_000)}"`,
];

test("P5, P18: among 100,000 wrong messages the right ones are answered, timers run, and memory stays flat", async () => {
  await using system = createSystem({ logger: recordIn([]) });
  const { desk } = spawnDesk(system);
  const stranger = new Stranger();
  const peer = createPeer(system, stranger.channel, { serves: methodsOf(desk), maxBytes: 1_000, maxBatch: 10 });
  const heap = new Heap();
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const answers = rightAnswers(stranger);
  stranger.pour(flood(WRONG, (id, index) => request(id, "sum", [index, 1]), heap));
  expect((await answers).map(({ result }) => result)).toEqual(
    Array.from({ length: FLOOD / EVERY }, (_, index) => index + 2),
  );
  clearInterval(timer);
  expect(peer.counts.orphaned).toBeGreaterThan(FLOOD / WRONG.length - 10);
  expect(stranger.heard).toBeGreaterThan((FLOOD / WRONG.length) * 8);
  expect(ticks).toBeGreaterThan(10);
  expect(peer.serving).toBe(0);
  heap.expectFlat();
  peer.close();
});
