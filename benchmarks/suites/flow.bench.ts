import { rawAskAll, rawFanOut, rawOffers, rawPool } from "../harness/raw-floors";
import type { Floor, Prepared, Row, Suite } from "../harness/suite";
import { offers, pool, topic } from "../subjects/flow";

const OPERATIONS = 1000;

const row = (name: string, floor: Floor, setup: (operations: number) => Prepared): Row => ({
  kind: "timed",
  name,
  operations: OPERATIONS,
  per: 1,
  floor,
  setup: () => setup(OPERATIONS),
});

const key = (_operation: string, payload: unknown) => Number(payload) % 16;

export const suite: Suite = {
  name: "flow",
  about: "Warm: senders that wait for room, topics, and pools of four workers.",
  rows: [
    row("offer: 8 senders wait for room among 16, a message", rawOffers(16, 8), (all) => offers(all, 16, 8)),
    row("topic: an item to 10 subscribers, each", rawFanOut(10), (all) => topic(all, 10)),
    row("topic: an item to 100 subscribers, each", rawFanOut(100), (all) => topic(all, 100)),
    row("topic: an item to 1,000 subscribers, each", rawFanOut(1000), (all) => topic(all, 1000)),
    row("pool: round-robin, 100 asks in flight", rawPool(4, 100), (all) => pool(all, 100, { size: 4 })),
    row("pool: least-busy, 100 asks in flight", rawPool(4, 100), (all) =>
      pool(all, 100, { size: 4, routing: "least-busy" }),
    ),
    row("pool: consistent-hash, 100 asks in flight", rawPool(4, 100), (all) =>
      pool(all, 100, { size: 4, routing: "consistent-hash", key }),
    ),
    row("pool: broadcast, an ask of all in sequence", rawAskAll(4, false), (all) =>
      pool(all, 1, { size: 4, routing: "broadcast" }),
    ),
    row("pool: first-answer, an ask of all in sequence", rawAskAll(4, true), (all) =>
      pool(all, 1, { size: 4, routing: "first-answer" }),
    ),
  ],
};
