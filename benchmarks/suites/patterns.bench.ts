import { address, createMessage, createSystem, type Message } from "envoi";
import { do_not_optimize } from "mitata";
import { literal } from "../harness/floors";
import { fairnessProbe } from "../harness/probes";
import {
  rawAggregation,
  rawAsk,
  rawAsks,
  rawChain,
  rawFanOut,
  rawMixed,
  rawPingPong,
  rawSkynet,
  rawSpawnStop,
  rawTells,
} from "../harness/raw-floors";
import type { Floor, Prepared, Row, Suite } from "../harness/suite";
import { prepareAsks } from "../subjects/asks";
import { Echo } from "../subjects/echo";
import { aggregation, chain, fanOut, mixed, pingPong, spawnStop, tells } from "../subjects/patterns";
import { skynet } from "../subjects/skynet";

const OPERATIONS = 1000;
/** 0 + 1 + … + 99,999. */
const SKYNET = 4_999_950_000;

const pattern = (name: string, per: number, floor: Floor, setup: (operations: number) => Prepared): Row => ({
  kind: "timed",
  name,
  operations: Math.max(per, OPERATIONS),
  per,
  floor,
  setup: () => setup(Math.max(per, OPERATIONS)),
});

function asks(operations: number, width: number): Prepared {
  const system = createSystem();
  const echo = system.spawn("echo", Echo, () => ({ say: (payload) => payload }));
  const ask = (index: number) => echo.ask("say", index);
  return prepareAsks({ operations, width, ask, reply: (index) => index, teardown: () => system.shutdown() });
}

/** Messages that are all alive at once, and are not sent. */
function unsent(operations: number): Prepared {
  const to = address("nobody");
  let completed = 0;
  const run = () => {
    const messages: Message[] = [];
    for (let i = 0; i < operations; i++) messages.push(createMessage(to, "say", i));
    do_not_optimize(messages);
    completed += messages.length;
  };
  return { run, completed: () => completed };
}

export const suite: Suite = {
  name: "patterns",
  about:
    "Warm actors and references in the shapes that programs are made of, each until its last message is handled or answered.",
  rows: [
    pattern("concurrent: 10 tells", 10, rawTells(10), (all) => tells(all, 10)),
    pattern("concurrent: 100 tells", 100, rawTells(100), (all) => tells(all, 100)),
    pattern("concurrent: 10 asks", 10, rawAsks(10), (all) => asks(all, 10)),
    pattern("concurrent: 100 asks", 100, rawAsks(100), (all) => asks(all, 100)),
    pattern("mixed: 50 tells + 50 asks", 100, rawMixed(100), (all) => mixed(all, 100)),
    pattern("throughput: 1k messages, sequential", 1000, rawAsk, (all) => asks(all, 1)),
    pattern("throughput: 1k messages, batches of 100", 1000, rawAsks(100), (all) => asks(all, 100)),
    pattern("throughput: 10k messages, batches of 100", 10_000, rawAsks(100), (all) => asks(all, 100)),
    pattern("actor to actor: 10 chained messages", 10, rawChain(10), (all) => chain(all, 10)),
    pattern("fan-out: 1 to 10 actors", 10, rawFanOut(10), (all) => fanOut(all, 10)),
    pattern("aggregation: 100 messages to 1 actor", 100, rawAggregation(100), (all) => aggregation(all, 100)),
    pattern("memory: create 1k messages, unsent", 1000, literal, unsent),
    pattern("ping-pong, a round trip between two actors", 1, rawPingPong, pingPong),
    pattern("spawn and stop, both confirmed", 1, rawSpawnStop, spawnStop),
    pattern("skynet, 100,000 leaves", 100_000, rawSkynet, (all) => skynet(all, SKYNET)),
    fairnessProbe(new URL("../subjects/process.ts", import.meta.url), "fairness"),
  ],
};
