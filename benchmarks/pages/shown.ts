import type { FigureName } from "../harness/target";

const figure = (suite: string, row: string, name: string): FigureName => ({ suite, row, figure: name });

/** The rows of the README: one of each kind. */
export const inReadme: readonly FigureName[] = [
  figure("message-creation", "createMessage (tell)", "ratio"),
  figure("routing", "ref.tell of two operations in turn, 100,000 to completion", "ratio"),
  figure("routing", "ref.tell, 100,000 to completion", "ratio"),
  figure("routing", "ref.ask in sequence, sync handler, default timeout", "ratio"),
  figure("routing", "router.ask(createMessage(…)) in sequence", "ratio"),
  figure("patterns", "spawn and stop, both confirmed", "ratio"),
  figure("patterns", "5 ms timer while two actors volley for 200 ms", "ticks"),
  figure("streams", "stream, an item, credit 16", "ratio"),
  figure("flow", "topic: an item to 1,000 subscribers, each", "ratio"),
  figure("survival", "restart: an ask that fails, its actor made anew", "ratio"),
  figure("memory", "heap of an idle actor", "bytes"),
  figure("files", "read 100 B", "ratio"),
  figure("latency", "execution, sandbox", "p95"),
  figure("startup", 'import "envoi", to the first reply', "over bare Bun"),
];

/** The other libraries of actors in the README, and its rows of them: times, and what each does. */
export const peersInReadme = {
  names: ["envoi", "nact", "xstate", "effect", "akkajs"],
  rows: [
    "tell, 1,000 at once",
    "ask, one after the other",
    "ping-pong, a round trip",
    "spawn and stop",
    "heap of an idle actor",
    "an ask times out",
    "an asker is told that the handler threw",
    "an actor goes on after a throw",
    "the next message waits for the promise of the one before",
    "timers fire while two actors volley",
  ],
} as const;
