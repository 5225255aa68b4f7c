import { latencyFigures } from "../harness/latency";
import { NATS_HINT, presentNatsServer } from "../harness/nats-server";
import { needing, probe, suiteOf, timed } from "../harness/rows";
import {
  asks,
  asksAtOnce,
  flood,
  handled,
  handledBare,
  items,
  published,
  requests,
  stored,
  storedBare,
  tells,
} from "../subjects/nats";
import { handsOver, moves } from "../subjects/nats/owners";

/** In pieces, since three processes share the processors. Each side does some thousands first. */
const WARM = { pieces: 3, operations: 50, warmUp: 100 };
const MANY = { pieces: 3, operations: 1_024, warmUp: 30 };
const STORED = { pieces: 3, operations: 1_000, warmUp: 10 };

export const suite = suiteOf(
  "nats",
  [
    "Two nodes, each a process of its own, by one server of NATS on loopback, beside the client of NATS by itself, by the same server and in turns. Both sides are warm. Orders of",
    "some 50 bytes are sent, validated on their way in, and counted on the other side. Durable sends are 1,000 in a turn, to a stream on one server's disk.",
    "A singleton *moves* when the process of its owner is killed, at the default lease of 2 s: the time is that from kill -9 until the next owner has answered. It is *handed over* when",
    "its owner leaves: the time is that from the end of the drain until the next owner has answered, while a third node asks on and on, and none of its asks fails.",
  ].join("\n"),
  needing(lacking("@nats-io/transport-node") ?? lacking("@nats-io/jetstream") ?? lacking("@nats-io/kv") ?? without(), [
    timed("an ask", requests(1), asks, [1.4, 1.15, "the server has most of the time"], WARM),
    timed(
      "an ask, 64 in flight",
      requests(64),
      (all) => asksAtOnce(all, 64),
      [1, 0.7, "they go as one text, both ways, whereas requests go one by one"],
      MANY,
    ),
    timed("a tell", published, tells, [1.5, 1, "all that leaves in a turn goes in few texts"], MANY),
    timed(
      "an item of a stream, credit 256",
      flood,
      (all) => items(all, 256),
      [5, 3, "its reader pushes back over the network; a fifth of what a flood does was promised"],
      MANY,
    ),
    timed(
      "a durable tell, stored",
      storedBare,
      stored,
      [1, 0.1, "what leaves in a turn is stored as one message"],
      STORED,
    ),
    timed(
      "a durable tell, handled",
      handledBare,
      handled,
      [1, 0.2, "a batch is acknowledged once; each message is handled by itself"],
      STORED,
    ),
    probe(
      "a singleton moves after kill -9 of its owner",
      latencyFigures("ms"),
      "it is held against the lease",
      (scale) => moves({ smoke: 1, full: 2 }[scale]),
      [["max", "atMost", 3_000, 2_100, "the lease of 2 s ends first; nobody may own it before"]],
      { rounds: 1 },
    ),
    probe(
      "a singleton is handed over",
      latencyFigures("ms"),
      "it is held against what a user bears",
      (scale) => handsOver({ smoke: 1, full: 12 }[scale]),
      [["p50", "atMost", 50, 20, "the last owner says so, and the next one waits for nothing else"]],
      { rounds: 1 },
    ),
  ]),
);

/** The reason why rows that need a package are left out; undefined where it is installed. */
function lacking(name: string): string | undefined {
  try {
    Bun.resolveSync(name, import.meta.dir);
    return undefined;
  } catch {
    return `the package \`${name}\` is not installed`;
  }
}

/** The reason why there is no server; undefined where there is one. Nothing is fetched for a suite that may not be run. */
function without(): string | undefined {
  try {
    return presentNatsServer() === undefined ? `there is no nats-server: ${NATS_HINT}` : undefined;
  } catch (thrown) {
    return `there is no nats-server: ${String(thrown)}`;
  }
}
