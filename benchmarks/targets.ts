import type { Target } from "./harness/target";

/**
 * What the figures must reach, with every promise switched on. `bun run bench --check` fails when one is missed. Ratios are to the
 * floor of the same rounds; *raw* is the ten-line mailbox of `harness/raw-mailbox.ts`.
 */
export const targets: readonly Target[] = [
  {
    suite: "routing",
    row: "ref.tell, 100,000 to completion",
    figure: "ratio",
    atMost: 1.6,
    aim: 1.3,
    reason: "a tell adds accounting and a turn budget to the raw mailbox, and allocates one envelope as that does",
  },
  {
    suite: "routing",
    row: "ref.ask in sequence, sync handler, default timeout",
    figure: "ratio",
    atMost: 1.5,
    aim: 1.25,
    reason: "an ask costs the promise that it must create, and a deadline in the shared timer wheel",
  },
  {
    suite: "routing",
    row: "ref.ask, 100 in flight",
    figure: "ratio",
    atMost: 1.5,
    aim: 1.1,
    reason: "one microtask drains the batch, so the promises weigh most",
  },
  {
    suite: "routing",
    row: "router.ask(createMessage(…)) in sequence",
    figure: "ratio",
    atMost: 2.5,
    aim: 1.8,
    reason: "the dynamic path adds a message object and a look-up by address",
  },
  {
    suite: "patterns",
    row: "ping-pong, a round trip between two actors",
    figure: "ratio",
    atMost: 2,
    aim: 1.5,
    reason: "two hops, each of which starts an actor's turn",
  },
  {
    suite: "patterns",
    row: "spawn and stop, both confirmed",
    figure: "ratio",
    atMost: 5,
    aim: 3,
    reason: "an actor is a cell, a behaviour, a context and a name, made and taken apart in order",
  },
  {
    suite: "patterns",
    row: "skynet, 100,000 leaves",
    figure: "ratio",
    atMost: 5,
    aim: 3,
    reason: "111,111 actors, each spawned under an address, told, heard and stopped, beside a bare mailbox each",
  },
  {
    suite: "memory",
    row: "heap of an idle actor",
    figure: "bytes",
    atMost: 430,
    aim: 350,
    reason: "idle actors are cheap enough to have one for each user, session or file",
  },
  {
    suite: "message-creation",
    row: "createMessage (tell)",
    figure: "ratio",
    atMost: 2,
    aim: 1.2,
    reason: "a message is one object of one shape; with its id and its time",
  },
  {
    suite: "patterns",
    row: "5 ms timer while two actors volley for 200 ms",
    figure: "ticks",
    atLeast: 38,
    aim: 40,
    reason: "no actor, however busy, starves timers (P5)",
  },
  {
    suite: "patterns",
    row: "5 ms timer while two actors volley for 200 ms",
    figure: "gap",
    atMost: 8,
    aim: 8,
    reason: "a turn is bounded to about a millisecond (P5)",
  },
];
