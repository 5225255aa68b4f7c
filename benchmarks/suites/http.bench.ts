import { Database } from "bun:sqlite";
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "envoi";
import { type Manifest, signManifest, verifyManifest } from "envoi/http";
import { SessionStore } from "#http-internals";
import { latencyFigures } from "../harness/latency";
import { disk, makeFolder } from "../harness/places";
import { apart, type Declared, figures, type Kept, probe, steps, suiteOf, timed } from "../harness/rows";
import type { Charted, Floor } from "../harness/suite";

const MODULE = new URL("../subjects/http.ts", import.meta.url).href;
const IN_TURNS = "a bare server is in a process of its own, in turns with the gateway: its figure *bare*";

/** Microseconds beside a bare server; the limit is of how many times its it is. */
const beside = (
  name: string,
  subject: string,
  full: number,
  most?: readonly [limit: number, aim: number, reason: string],
  more: readonly string[] = [],
): Declared =>
  probe(
    name,
    [...figures("µs", "gateway", "bare"), ...figures("", "times bare"), ...figures("µs", ...more)],
    IN_TURNS,
    apart(MODULE, subject, { smoke: 24, full }),
    most && ([["times bare", "atMost", ...most]] satisfies Kept[]),
  );

/** Users of a service, each with one request after the other. */
const users = (count: number, subject: string): Declared =>
  probe(
    `${count} users, a mix of requests`,
    [...figures("/s", "rate"), ...figures("ms", "p50", "p95", "p99")],
    "it is what a service does as a whole",
    apart(MODULE, subject, { smoke: 50, full: 2_000 }),
  );

// Manifests: what signs and verifies them, over a text of as many bytes.

const SCHEMA = { type: "object", properties: { item: { type: "string" }, count: { type: "integer" } } };
const NAMES = ["add", "total", "ticks"];
const manifest: Manifest = {
  name: "desk",
  version: "1.2.3",
  protocols: {
    desk: Object.fromEntries(NAMES.map((name) => [name, { pattern: "ask", input: SCHEMA, output: SCHEMA }])),
  },
  endpoints: NAMES.map((operation) => {
    return { actor: "desk", protocol: "desk", operation, methods: ["POST"], path: `/actors/desk/${operation}` };
  }),
  routes: [{ method: "GET", path: "/health", summary: "Tells whether the service is up" }],
};
const bytes = Buffer.from(JSON.stringify(manifest));
const { privateKey, publicKey } = generateKeyPairSync("ed25519");

const ed25519: Floor = {
  name: "Ed25519 signature",
  about: "`sign` of `node:crypto`, of as many bytes as the manifest has",
  setup: (operations) => steps(operations, () => sign(null, bytes, privateKey).length === 64),
};
const ed25519Verified: Floor = {
  name: "Ed25519 verification",
  about: "`verify` of `node:crypto`, of as many bytes as the manifest has",
  setup(operations) {
    const signature = sign(null, bytes, privateKey);
    return steps(operations, () => verify(null, bytes, publicKey, signature));
  },
};
const signatures = (operations: number) =>
  steps(operations, () => signManifest(manifest, privateKey).signature.value.length === 86);
const verifications = (operations: number) => {
  const text = JSON.stringify(signManifest(manifest, privateKey));
  return steps(operations, () => verifyManifest(text, publicKey).isOk());
};

// Sessions in a file, and the bare statement that finds one there. A row is set up before its floor.

const SESSIONS = 10_000;
let file = "";
const ids: string[] = [];
const idAt = (index: number): string => ids[(index * 7_919) % SESSIONS] ?? "";

async function lookups(operations: number) {
  const { path, remove } = makeFolder(disk, "envoi-sessions-");
  file = join(path, "sessions.sqlite");
  const store = new SessionStore(file, "normal", systemClock, "{}");
  ids.splice(0);
  for (let i = 0; i < SESSIONS; i++) ids.push(Bun.randomUUIDv7());
  await Promise.all(ids.map((id) => store.create(id, "ada", null, "{}")));
  const teardown = async () => {
    await store.close();
    remove();
  };
  return steps(operations, (index) => store.find(idAt(index))?.owner === "ada", { teardown });
}

const COLUMNS =
  "number, id, owner, metadata, created_at AS createdAt, used_at AS usedAt, first_event AS firstEvent, last_event AS lastEvent, last_message AS lastMessage";
const statement: Floor = {
  name: "prepared statement",
  about: "a prepared `SELECT` of the same columns by the session's id, of the same 10,000 sessions",
  setup(operations) {
    const database = new Database(file, { readonly: true });
    const found = database.prepare<{ readonly owner: string }, [string]>(
      `SELECT ${COLUMNS} FROM sessions WHERE id = ?`,
    );
    return steps(operations, (index) => found.get(idAt(index))?.owner === "ada", { teardown: () => database.close() });
  },
};

const growing = ["heap slope", "RSS slope"];

export const suite = suiteOf(
  "http",
  [
    "A gateway beside bare servers of Bun that do the same work by hand: `Bun.serve` that gives its JSON back, writes the same events, or answers the",
    "same frames. Each server is a process of its own, as is the load. *Gateway* and *bare* are the time of the server's own processor for a request, or,",
    "where a row says so, the time until the answer has come. *Full* is with tokens, a rate limit, a session from SQLite, metrics and `Server-Timing`. The",
    "mix of the users is, of ten requests, four asks, two messages to a session, two streams of ten events, the manifest and the metrics.",
  ].join("\n"),
  [
    beside("an ask, validated", "ask", 30_000, [1.4, 1.15, "what checks a body by hand costs as much"]),
    beside("an ask, full", "full", 30_000, [2, 1.6, "all that a service has on, and a request is still cheap"]),
    beside("SSE of 100 events", "events", 3_000, [1.25, 1.05, "what is there is taken and written at once"]),
    beside("SSE of 100 events, beside 16 at once", "eventsAtOnce", 3_000),
    beside("WebSocket, an ask", "socket", 30_000, [1.3, 1.2, "one socket carries all asks"]),
    beside("time to the first event", "firstEvent", 1_000, [1.5, 1.1, "it goes out with the headers"], ["added"]),
    beside("a message to a session, as events: time until the last", "endToEnd", 1_000, undefined, ["added"]),
    timed("session lookup", statement, lookups, [2, 1.3, "a session costs a request one statement"]),
    timed("manifest: canonical form and signature", ed25519, signatures, [1.7, 1.4, "most of it is the signature"], {
      operations: 10,
    }),
    timed("manifest: verification", ed25519Verified, verifications, [1.4, 1.2, "most of it is the verification"], {
      operations: 10,
    }),
    probe(
      "a client that leaves: until its stream is cancelled",
      latencyFigures("ms"),
      "it is held against what a user bears",
      apart(MODULE, "disconnects", { smoke: 3, full: 200 }),
      [["p95", "atMost", 10, 2, "a model that nobody listens to is stopped at once"]],
    ),
    probe(
      "a body of 600 KB, refused",
      figures("ms", "refusal", "its JSON read", "beyond that"),
      "its figure *its JSON read* is measured in turns with it",
      apart(new URL("../subjects/http-gateway.ts", import.meta.url).href, "refusals", { smoke: 2, full: 40 }),
      [["beyond that", "atMost", 1, 0.5, "refusals are cheap (P18)"]],
    ),
    users(10, "tenUsers"),
    users(25, "twentyFiveUsers"),
    users(50, "fiftyUsers"),
    probe(
      "the mix, by steps until it breaks",
      [...figures("/s", "held"), ...figures("ms", "p95")],
      "it is what a service bears as a whole",
      apart(MODULE, "steps", { smoke: 50, full: 1_000 }),
      [],
      { rounds: 1 },
    ),
    probe(
      "memory of the mix, a request",
      figures("B", ...growing.flatMap((slope) => [slope, `${slope}, least`, `${slope}, most`])),
      "what is looked for is that nothing grows",
      apart<Charted>(MODULE, "memory", { smoke: 200, full: 40_000 }),
      [["heap slope, least", "atMost", 20, 0, "a request that leaves anything leaves more than that"]],
      { rounds: 1 },
    ),
  ],
);
