import { Database } from "bun:sqlite";
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { join } from "node:path";
import { createSystem, systemClock } from "envoi";
import { createGateway, type Manifest, signManifest, verifyManifest } from "envoi/http";
import { SessionStore } from "#http-internals";
import { latencyFigures } from "../harness/latency";
import { disk, makeFolder } from "../harness/places";
import { type Declared, figures, type Kept, type Most, probe, steps, suiteOf, timed } from "../harness/rows";
import { median } from "../harness/statistics";
import type { Floor, Probe, ProbeFigure, Readings, Scale } from "../harness/suite";
import { threadTime } from "../harness/timer";
import { AUTHORIZED, beside, disconnects, MESSAGE, memory, steps as stepByStep, users } from "../subjects/http";
import { connectSocket, cpuOf, type Exchange, type Gauge, isOk, ORDER, post, timeOf } from "../subjects/http-load";
import type { Server } from "../subjects/http-process";
import { expose } from "../subjects/http-servers";

// The requests to a gateway and to the bare servers beside it, which look at no path.

const same = (request: string, isRight: Exchange["isRight"]) => (): Exchange => ({ requests: [request], isRight });

const order = same(post("/actors/desk/take", ORDER), (answer) => isOk(answer) && answer.endsWith(ORDER));
const message = ({ path }: Server): Exchange => ({
  requests: [post(path, MESSAGE, `${AUTHORIZED}prefer: server-timing\r\n`)],
  isRight: (answer) =>
    isOk(answer) && answer.includes(ORDER) && (path === "/" || /\nserver-timing: auth/i.test(answer)),
});
const isStream = (count: number) => (answer: string) => answer.split("\ndata: ").length === count + 2; // And its end.
const hundred = same(post("/actors/source/ticks", "100"), isStream(100));
const first = timeOf(hundred, "\ndata: 1\n");
const streamed = ({ path }: Server): Exchange => ({
  requests: [post(path, path === "/" ? "10" : '{"operation":"ticks","payload":10}', AUTHORIZED)],
  isRight: isStream(10),
});
const frame = same(
  `[{"kind":"ask","id":"1","to":"desk","type":"take","payload":${ORDER}}]`,
  (answer) => answer === `[{"kind":"reply","id":"1","payload":${ORDER}}]`,
);

const FIGURES = ["gateway", "bare", "times bare", "added", "16 at once", "times 16 at once"].map((name) =>
  figures(name.startsWith("times") ? "" : "µs", name),
);
const IN_TURNS =
  "bare servers are in processes of their own, in turns with the gateway: its figures *bare* and *16 at once*";

/** Microseconds of a request of a gateway beside those of one bare server or two, which have turns of so many requests. */
function against(row: string, servers: string, gauge: Gauge, turn: number, most: Most, ...more: Kept[]): Declared {
  const [names, kept] = [
    servers.split(" "),
    typeof most === "string" ? [] : [["times bare", "atMost", ...most] as const],
  ];
  const all = FIGURES.slice(0, names.length > 2 ? 6 : 4).flat();
  return probe(row, all, IN_TURNS, beside(names, gauge, turn), [...kept, ...more]);
}

/** The probes of a service as a whole. Each is measured once, since it takes some seconds. */
const whole = (row: string, all: readonly ProbeFigure[], measure: Probe["measure"], ...kept: Kept[]): Declared =>
  probe(row, all, "it is what a service does as a whole", measure, kept, { rounds: 1 });

const RATES = [...figures("/s", "rate"), ...figures("ms", "p50", "p95", "p99")];
const REFUSED = figures("ms", "refusal", "its JSON read", "beyond that");
const HELD = [...figures("/s", "held"), ...figures("ms", "p95")];
const SLOPES = ["heap slope", "RSS slope"].flatMap((slope) => figures("B", slope, `${slope}, least`, `${slope}, most`));

// A body of which each order is wrong.

const wrong = ORDER.replace("3", '"three"');
const body = `{"orders":[${`${wrong},`.repeat(600_000 / wrong.length)}${wrong}]}`;
const headers = { "content-type": "application/json", "content-length": `${body.length}` };

/** The system tells of a thread's time every 4 ms: a turn is long beside that. */
const [TURNS, TURN] = [5, 60];

/** Milliseconds of this thread for the refusal of such a body, and for the reading of its JSON alone, in turns; two are to warm up. */
async function refusals(scale: Scale): Promise<Readings> {
  const system = createSystem();
  const gateway = createGateway(system, { expose: expose(system) });
  const make = () => new Request("http://localhost/actors/desk/takeAll", { method: "POST", headers, body });
  const read = async () => typeof (await make().json()) === "object";
  const refuse = async () => (await (await gateway.fetch(make())).text()).split('"path":').length === 1 + 8;
  const count = { smoke: 1, full: TURN }[scale];
  const turn = async (work: () => Promise<boolean>) => {
    const start = threadTime();
    for (let i = 0; i < count; i++) if (!(await work())) throw new Error("it was not read, or not refused");
    return (threadTime() - start) / count;
  };
  const [reading, refusing]: [number[], number[]] = [[], []];
  for (let i = 0; i < TURNS + 2; i++) {
    reading.push(await turn(read));
    refusing.push(await turn(refuse));
  }
  await system.shutdown();
  const [bare = 0, refusal = 0] = [reading, refusing].map((taken) => median(taken.slice(2)));
  return { refusal, "its JSON read": bare, "beyond that": Math.max(0, refusal - bare) };
}

// Manifests: what signs and verifies them, beside the same of as many bytes.

const input = { type: "object", properties: { item: { type: "string" }, count: { type: "integer" } } };
const names = ["add", "total", "ticks"];
const manifest: Manifest = {
  ...{ name: "desk", version: "1.2.3" },
  protocols: { desk: Object.fromEntries(names.map((name) => [name, { pattern: "ask", input, output: input }])) },
  endpoints: names.map((operation) => {
    return { actor: "desk", protocol: "desk", operation, methods: ["POST"], path: `/actors/desk/${operation}` };
  }),
  routes: [{ method: "GET", path: "/health", summary: "Tells whether the service is up" }],
};
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const bytes = Buffer.from(JSON.stringify(manifest));
const signature = sign(null, bytes, privateKey);
const signed = JSON.stringify(signManifest(manifest, privateKey));

const signatures = (operations: number) =>
  steps(operations, () => signManifest(manifest, privateKey).signature.value.length === 86);
const verifications = (operations: number) => steps(operations, () => verifyManifest(signed, publicKey).isOk());

const ed25519 = (what: string, work: () => boolean): Floor => ({
  name: `Ed25519, ${what}`,
  about: `\`${what}\` of \`node:crypto\`, of as many bytes as the manifest has`,
  setup: (operations) => steps(operations, work),
});
const signing = ed25519("sign", () => sign(null, bytes, privateKey).length === 64);
const verifying = ed25519("verify", () => verify(null, bytes, publicKey, signature));

// Sessions in a file, and the bare statement that finds one there. A row is set up before its floor.

const SESSIONS = 10_000;
let [file, ids] = ["", [] as readonly string[]];
const idAt = (index: number): string => ids[(index * 7_919) % SESSIONS] ?? "";

async function lookups(operations: number) {
  const folder = makeFolder(disk, "envoi-sessions-");
  file = join(folder.path, "sessions.sqlite");
  const store = new SessionStore(file, "normal", systemClock, "{}");
  ids = Array.from({ length: SESSIONS }, () => Bun.randomUUIDv7());
  await Promise.all(ids.map((id) => store.create(id, "ada", null, "{}")));
  const teardown = () => store.close().then(folder.remove);
  return steps(operations, (index) => store.find(idAt(index))?.owner === "ada", { teardown });
}

const COLUMNS =
  "number, id, owner, metadata, created_at AS createdAt, used_at AS usedAt, first_event AS firstEvent, last_event AS lastEvent, last_message AS lastMessage";
const statement: Floor = {
  name: "prepared statement",
  about: "a prepared `SELECT` of the same columns by the session's id, of the same 10,000 sessions",
  setup(operations) {
    const database = new Database(file, { readonly: true });
    const found = database.prepare<{ owner: string }, [string]>(`SELECT ${COLUMNS} FROM sessions WHERE id = ?`);
    return steps(operations, (index) => found.get(idAt(index))?.owner === "ada", { teardown: () => database.close() });
  },
};

const FLAT: Kept = ["heap slope, least", "atMost", 20, 0, "a request that leaves anything leaves more than that"];
const TEN = { operations: 10 };

export const suite = suiteOf(
  "http",
  [
    "A gateway beside bare servers of Bun that do the same work by hand: `Bun.serve` that gives its JSON back, writes the same events, or answers the",
    "same frames. Each server is a process of its own, and the load is another one. *Gateway* and *bare* are the time of the server's own processor for a",
    "request, or, where a row says so, the time until the answer has come; *added* is the difference. *Full* is with tokens, a rate limit, a session from",
    "SQLite, metrics and `Server-Timing`. Events have two bare servers: *bare* writes each event as soon as it is there; *16 at once* waits for sixteen and",
    "writes them together, which is less work, and delays what a slow source gives. The limit is beside the first one; 1.05 is aimed at beside both. The",
    "mix of the users is, of ten requests, four asks, two messages to a session, two streams of ten events, the manifest and the metrics.",
  ].join("\n"),
  [
    against("an ask, validated", "gateway echo", cpuOf(order), 4_000, [
      1.55,
      1.15,
      "1.36 was reached; 1.4 was wanted, which a noisy run misses",
    ]),
    against("an ask, full", "full echo", cpuOf(message), 3_000, [
      2.3,
      1.6,
      "2.0 was reached; 2 was wanted, which half of the runs miss",
    ]),
    against(
      "SSE of 100 events",
      "gateway oneByOne bySixteen",
      cpuOf(hundred),
      1_200,
      [1.25, 1.05, "what is there is taken and written at once"],
      ["times 16 at once", "atMost", 1.7, 1.05, "what is there goes out, and nobody waits for sixteen"],
    ),
    against("WebSocket, an ask", "gateway socket", cpuOf(frame, connectSocket), 4_000, [1.3, 1.2, "one for all asks"]),
    against("time to the first event", "gateway oneByOne", first, 100, [1.5, 1.1, "it goes out with the headers"]),
    against("a message to a session, as events: time until the last", "full oneByOne", timeOf(streamed), 100, ""),
    probe("a body of 600 KB, refused", REFUSED, "it is its figure *its JSON read*", refusals, [
      ["beyond that", "atMost", 1, 0.5, "refusals are cheap (P18)"],
    ]),
    timed("session lookup", statement, lookups, [2, 1.3, "a session costs a request one statement"]),
    timed("manifest: canonical form and signature", signing, signatures, [1.7, 1.4, "most is the signature"], TEN),
    timed("manifest: verification", verifying, verifications, [1.4, 1.2, "most of it is the verification"], TEN),
    probe(
      "a client that leaves: until its stream is cancelled",
      latencyFigures("ms"),
      "it is held against what a user bears",
      disconnects,
      [["p95", "atMost", 10, 2, "a model that nobody listens to is stopped at once"]],
    ),
    ...[10, 25, 50].map((count) => whole(`${count} users, a mix of requests`, RATES, users(count))),
    whole("the mix, by steps until it breaks", HELD, stepByStep),
    whole("memory of the mix, a request", SLOPES, memory, FLAT),
  ],
);
