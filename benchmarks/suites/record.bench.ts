import { latencyFigures } from "../harness/latency";
import { apart, type Declared, figures, type Kept, probe, suiteOf } from "../harness/rows";
import type { Readings, Scale } from "../harness/suite";
import { type Exchange, get, isOk, ORDER, post, WIDTH } from "../subjects/http-load";
import { beside } from "../subjects/record";
import type { Mode } from "../subjects/record-servers";

/** A p99 needs a thousand samples, which are ten turns of a hundred requests. */
const figuresOf = (turn: number) => [
  ...figures("µs", "cpu"),
  ...figures("", "times off"),
  ...figures("µs", "user", "system"),
  ...figures("/s", "rate"),
  ...(turn < 100 ? figures("ms", "p50", "max") : latencyFigures("ms")),
  ...figures("MB", "RSS"),
];

/** The most times off that a request takes, recorded and with transforms. */
type Most = readonly [record: number, transformed: number];
const PROMISED: Most = [1.25, 1.6];

const limitsOf = ([record, transformed]: Most): Readonly<Record<Mode, readonly Kept[]>> => ({
  off: [],
  record: [
    [
      "times off",
      "atMost",
      record,
      1.1,
      "of its 6 µs for a GET, half are marks and observers, a quarter the file; 1.25 was promised",
    ],
  ],
  "with transforms": [
    ["times off", "atMost", transformed, 1.3, "each value is looked at for what is to be changed; 1.6 was promised"],
  ],
});

/** A kind of request as three rows, one for each way of recording, which are measured in turns. */
function requests(name: string, exchange: Exchange, turn: number, most = PROMISED, width = WIDTH): Declared[] {
  const limits = limitsOf(most);
  let measured: Promise<Record<Mode, Readings>> | undefined;
  let told = new Set<Mode>();
  const read = async (mode: Mode, scale: Scale): Promise<Readings> => {
    if (measured === undefined || told.has(mode))
      [measured, told] = [beside({ exchange, turn, width }, scale), new Set()];
    told.add(mode);
    return (await measured)[mode];
  };
  return (["off", "record", "with transforms"] as const).map((mode) =>
    probe(
      `${name}: ${mode}`,
      figuresOf(turn),
      "it is held against the same server without a recording, in turns",
      (scale) => read(mode, scale),
      limits[mode],
      { rounds: 1 },
    ),
  );
}

const same = (request: string, answer: string): Exchange => ({
  requests: [request],
  isRight: (whole) => isOk(whole) && whole.endsWith(answer),
});
const given = (operation: string, body: string): Exchange => same(post(`/actors/desk/${operation}`, body), body);

const USER = JSON.stringify({
  ...{ name: "Ada Lovelace", email: "ada@example.com", card: "4242424242424242", password: "correct horse" },
  visits: ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => ({ at: "2026-01-01T00:00:00Z", address })),
});
/** A list of orders of so many bytes, or a few less. */
const orders = (bytes: number): string => {
  const count = Math.floor((bytes - 1) / (ORDER.length + 1));
  return `[${Array.from({ length: count }, () => ORDER).join(",")}]`;
};
const hash = new Bun.CryptoHasher("sha256").update(ORDER).digest("hex");

export const suite = suiteOf(
  "record",
  [
    "A recording beside none. An ask in one process, by the fastest turn of each; and requests to a gateway that is a process of its own, with the load in another one. The three ways of",
    "recording take turns: *off*; *record*, with the defaults that redact credentials; *with transforms*, with five more. `cpu` is the time of the server's own",
    "processors for a request, `user` and `system` its parts; `rate` is requests over the time on the wall, and the latencies are those of single requests,",
    "with eight under way, 128 where they wait for timers, and two of 1 MB or more. The servers are warm: each has answered 25 turns (of GET and POST: 30,000",
    "requests) before the ten that are counted. Each row counts its messages and their ends in the files. A value of 2 MB is recorded by its size and hash.",
  ].join("\n"),
  [
    probe(
      "an ask",
      figures("µs", "off", "record", "with transforms", "added", "added with transforms"),
      "it is its figure *off*",
      apart(new URL("../subjects/record.ts", import.meta.url).href, "asks", { smoke: 200, full: 8_000 }),
      [
        [
          "added",
          "atMost",
          2.45,
          1,
          "two lines of JSON, and the marks that join them; 1.5 was promised, and 1.6 reached where nothing else runs",
        ],
      ],
      { rounds: 1 },
    ),
    ...requests("GET", same(get("/actors/desk/hello"), ORDER), 1_200, [1.65, 1.7]),
    ...requests("POST", given("take", ORDER), 1_200, [1.6, 1.75]),
    ...requests("POST, values to transform", given("join", USER), 800, [2.8, 2.9]),
    ...requests("POST, its body hashed 1,000 times", same(post("/actors/desk/hash", ORDER), `"${hash}"`), 24),
    ...requests("POST, five timers of 5 ms", given("wait", ORDER), 800, [1.5, 1.6], 128),
    ...requests("POST of 100 KB, both ways", given("copy", orders(100_000)), 24, [3.9, 4.05]),
    ...requests("POST of 1 MB, both ways", given("copy", orders(1_000_000)), 2, [3.4, 3.6]),
    ...requests("POST of 2 MB, both ways", given("copy", orders(2_000_000)), 2, [2.65, 3.2]),
  ],
);
