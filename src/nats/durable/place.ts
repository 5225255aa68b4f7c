import { type Address, address } from "../../index";
import type { Connection } from "../connection";
import { shardOf } from "../shards";
import { tokenOf } from "../subjects";

/** A place where durable messages or their dead letters are kept: of a name, of an id, or of a lane of ids. */
export interface Place {
  /** The receiver as users know it: a name, or the address of the actor for an id. */
  readonly receiver: string;
  /** The tokens of its subjects. Those of names are one, and those of ids and lanes are two. */
  readonly tokens: readonly string[];
  /** True where its delayed messages are taken from, once their time has come. */
  readonly isLater?: boolean;
}

/** A name over the cluster whose ids take durable messages. */
export interface DurableKind {
  readonly name: string;
  readonly shards: number;
}

/**
 * The most lanes of a name over the cluster. The ids are spread over them, and one batch of each is under way. A lane costs each node a consumer
 * and a pull that waits.
 */
const MOST_LANES = 8;

/** @throws TypeError or RangeError when the name cannot be in an address, or is too long for NATS. */
export const placeOfName = (receiver: string): Place => {
  address(receiver); // Its errors name it as an address.
  return { receiver, tokens: [tokenOf(receiver)] };
};

export const placeOfId = (
  { cluster }: Connection,
  { name }: DurableKind,
  id: string,
): Place & { readonly receiver: Address } => ({
  receiver: address(`${cluster}/${name}/${id}`),
  tokens: [name, tokenOf(id)],
});

/** A token with `=` and one digit is that of a lane: `tokenOf` writes two after it. */
const lane = ({ name }: DurableKind, number: number): Place => ({
  receiver: `${name}, lane ${number}`,
  tokens: [name, `=${number}`],
});

/** The lane of an id: one for all nodes, so that its messages stay in order. */
export const laneOf = (kind: DurableKind, id: string): Place => lane(kind, shardOf(id, lanesOf(kind)));

export const allLanes = (kind: DurableKind): readonly Place[] =>
  Array.from({ length: lanesOf(kind) }, (_, number) => lane(kind, number));

const lanesOf = ({ shards }: DurableKind): number => Math.min(shards, MOST_LANES);

/** The place of the delayed messages to the same receiver. */
export const laterOf = (place: Place): Place => ({ ...place, isLater: true });

/** The most characters of the name of a consumer (NATS 2.11). */
const LONGEST = 255;
const LATER = "==later";

/** The name of its consumer, and its key in a bucket. No token has `==` in it. Where there is no room for the ending, a digest stands for the end of the name. */
export const keyOfPlace = ({ tokens, isLater }: Place): string => {
  const key = tokens.join("");
  if (isLater !== true) return key;
  if (key.length + LATER.length <= LONGEST) return key + LATER;
  const digest = `==${new Bun.CryptoHasher("sha256").update(key).digest("hex").slice(0, 32)}`;
  return key.slice(0, LONGEST - LATER.length - digest.length) + digest + LATER;
};

export const subjectOf = (connection: Connection, { tokens, isLater }: Place): string =>
  isLater ? connection.subject("later", "due", ...tokens) : connection.subject("durable", ...tokens);

/** The subject under which one delayed message waits: each has its own, since a second one of the same subject would replace it. */
export const waitingSubject = (connection: Connection): string =>
  connection.subject("later", "waiting", crypto.randomUUID());

export const deadSubjectOf = (connection: Connection, { tokens }: Place): string =>
  connection.subject("dead", ...tokens);
