import type { SuiteResult } from "../harness/results";
import type { FigureName } from "../harness/target";

const figure = (suite: string, row: string, name: string): FigureName => ({ suite, row, figure: name });

/** The rows of the README and of the summary: one of each kind. */
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

/** What the chart of each suite answers; and the times that it shows, where those are not the ratios of timed rows. */
export const charts: Readonly<Record<string, readonly [question: string, ...figures: string[]]>> = {
  "message-creation": ["What does a message cost over an object literal?"],
  routing: ["What does sending a message cost over a bare mailbox?"],
  patterns: ["What do the shapes of programs cost over bare mailboxes?"],
  files: ["What does the file actor add to the bare calls of node:fs?"],
  code: ["What do the actors add to an execution?"],
  gaps: ["How long does a timer wait beside one request at the limits?", "gap, least of 5", "gap, most of 5"],
  memory: ["Does memory grow with the work?"],
  latency: ["How long do single operations take, and the slowest of them?", "p50", "p95", "p99", "p99.9", "max"],
  startup: ["How much longer does a process take that imports envoi?", "over bare Bun"],
  flow: ["What do waiting senders, topics and pools cost over doing it by hand?"],
  streams: ["What does an item of a stream cost over a bare generator?"],
  http: ["What does a request cost a gateway, and what a bare server?", "gateway", "bare"],
  rpc: ["What does it cost to check and to route a message of JSON-RPC, over parsing it?"],
  acp: ["What do messages of the Agent Client Protocol cost, checked by its schema, over parsing them?"],
  mcp: ["What does a tool call cost over the same call of the official SDK's own server?"],
  record: ["What does a request cost a server that records, and one that does not?", "cpu"],
  workers: ["What does a message to another thread or process cost over the same bytes by hand?"],
  nats: ["What does a message to another machine cost over the client of NATS by itself?"],
  survival: ["What does it cost to fail, to be told of an end, and to put messages aside?"],
};

const TIERS: Readonly<Record<string, RegExp>> = {
  sandbox: /\bsandbox\b|default tier/,
  process: /^(?!.*\bsandbox\b).*\bprocess\b/,
  trusted: /^(?!.*(\bsandbox\b|default tier|\bprocess\b))/,
};

/** The rows of a suite by part, each with a name for its chart: those of code by their tier, others are one part. */
export function partsOf({ suite, rows }: SuiteResult) {
  if (suite !== "code") return [{ name: suite, title: "", rows }];
  return Object.entries(TIERS).map(([title, isOf]) => {
    return { name: `code-${title}`, title, rows: rows.filter(({ row }) => isOf.test(row)) };
  });
}
