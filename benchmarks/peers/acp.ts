import { join } from "node:path";
import { type Kind, texts, updateOf } from "../subjects/acp";
import { type Candidate, Lacks, type Room, type Task, timed } from "./room";

/** Gives how many of the texts were handed to their handler, or, of those that do not fit, were answered with an error. */
export type Decode = (all: readonly string[], count: number) => number | Promise<number>;
export type PeerLevel = "parse only" | "envelope" | "narrow" | "full";

export interface AcpPeer {
  /** A program that ends with 42 once it has answered `initialize`; or, of a floor, with 0. */
  readonly start: string;
  /** The decoder of a level. Throws `Lacks` if the peer has none. */
  decode(level: PeerLevel): Decode;
  /** Writes updates, each checked as far as the peer does; gives how many texts there were. */
  encode?(all: readonly object[], count: number): number | Promise<number>;
  /** A turn of so many updates between its two roles; gives how many came to the client. */
  turn?(): Promise<(updates: number) => Promise<number>>;
}

const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    how: "`createPeer` with the protocols of `envoi/acp`, each message handed to an actor; a turn by `serveAgent` and `connectAgent`. It also bounds depth, time and what is under way",
  },
  {
    name: "SDK",
    packages: ["@agentclientprotocol/sdk"],
    how: "its `client` and `agent` over streams in memory, each message parsed before; it has no level but its own",
  },
  {
    name: "ajv",
    packages: ["ajv"],
    how: "compiles the official schemas, in the form without references that envoi gives them; each message is handed to a function by its method",
  },
  { name: "zod", packages: ["zod"], how: "the same schemas by `z.fromJSONSchema`; likewise handed to a function" },
  {
    name: "valibot",
    packages: ["valibot"],
    how: "the same schemas, unions of objects by `variant` where one property tells them apart; likewise handed to a function",
  },
  {
    name: "JSON",
    isFloor: true,
    how: "`JSON.parse`, `JSON.stringify`, and the start of a bare Bun; nothing is checked",
  },
];

const MESSAGES = 10_000;

function decoding(row: string, kind: Kind, level: PeerLevel): Task<AcpPeer> {
  return timed({
    row,
    operations: MESSAGES,
    async prepare(peer) {
      const decode = peer.decode(level);
      // One that refuses nothing of what is wrong would be quick.
      const other: Kind = kind.startsWith("long") ? "long" : "mixed";
      if (level === "full" && (await decode(texts[other], 100)) !== 100) throw new Error("what fits was refused");
      return (count) => decode(texts[kind], count);
    },
  });
}

const sets = [
  ["codec of 10,000", "mixed"],
  ["10,000 of 100 tokens", "long"],
] as const;
const LEVELS = ["parse only", "envelope", "narrow", "full"] as const;
const updates = Array.from({ length: 1_000 }, (_, index) => updateOf(index));

/** Peers of the Agent Client Protocol, and what validates its messages. */
export const acp: Room<AcpPeer> = {
  candidates,
  tasks: [
    timed({
      row: "cold start, to the answer of initialize",
      prepare: (peer) => () => {
        const command = [process.execPath, "--no-install", join(import.meta.dir, peer.start)];
        const { exitCode } = Bun.spawnSync(command, { stdio: ["ignore", "ignore", "ignore"] });
        if (exitCode !== (peer.start.endsWith("empty.ts") ? 0 : 42)) throw new Error(`it ended with ${exitCode}`);
        return 1;
      },
    }),
    timed({
      row: "1,000 messages of a turn, from an agent to its client",
      operations: 1_000,
      async prepare({ turn }) {
        if (turn === undefined) throw new Lacks("it has no roles");
        const take = await turn();
        return (count) => take(count);
      },
    }),
    ...sets.flatMap(([name, kind]) => [
      ...LEVELS.map((level) => decoding(`${name}, decode: ${level}`, kind, level)),
      decoding(`${name}, decode: refused`, `${kind}, wrong`, "full"),
    ]),
    timed({
      row: "codec of 10,000, encode",
      operations: MESSAGES,
      prepare(peer) {
        const { encode } = peer;
        if (encode === undefined) throw new Lacks("it has none of its own");
        return (count) => encode(updates, count);
      },
    }),
  ],
};
