import type { Candidate, Work } from "../room";

export type Handler = (message: unknown) => unknown;

/** A library of actors, as its users call it. Nothing stands between a row and the library but what its users would write. */
export interface ActorPeer<Actor = unknown> {
  spawn(name: string, handler: Handler): Actor | Promise<Actor>;
  tell(to: Actor, message: unknown): void;
  /** Asks, where the peer has a timeout with one of so many milliseconds, or `ASK_TIMEOUT`. */
  ask(to: Actor, message: unknown, timeout?: number): Promise<unknown>;
  /** The reply in what an ask gave; throws where it is none. Default: what the ask gave. */
  replyIn?(answer: unknown): unknown;
  /** True where `ask` is written by hand, so that checks of asks say nothing of the library. */
  readonly hasNoAsk?: true;
  stop?(actor: Actor): void | Promise<void>;
  /** Rows that its users would write in another way, by their names. */
  readonly own?: Readonly<Record<string, () => Work | Promise<Work>>>;
}

/** Timeout of an ask in a row, in milliseconds, for peers that have one. It is envoi's default. */
export const ASK_TIMEOUT = 5_000;

const NO_ASK = "no ask of its own: a function that resolves a promise goes in the message";

export const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    how: "actors of this repository, told and asked through their references, with the timeout that an ask has by default",
  },
  {
    name: "nact",
    packages: ["nact"],
    how: "`spawn`, `dispatch` and `query`, whose timeout is given; one `setImmediate` a message",
  },
  {
    name: "xstate",
    packages: ["xstate"],
    how: `actors of \`fromTransition\`, the lightest of its logics that take events; ${NO_ASK}`,
  },
  {
    name: "effect",
    packages: ["effect"],
    how: "no actors of its own: a fiber that takes from an unbounded `Queue`; asks by a `Deferred` within `Effect.timeout`, by a program that runs in one fiber",
  },
  {
    name: "akkajs",
    packages: ["akkajs"],
    how: `Akka compiled to JavaScript: \`tell\`, with its log switched off; ${NO_ASK}`,
  },
  {
    name: "fastq",
    packages: ["fastq"],
    isFloor: true,
    how: "a queue for each actor, worked off one by one; asks by a callback that resolves a promise; no names, supervision, or stop",
  },
  {
    name: "promise",
    isFloor: true,
    how: "a bare promise: `Promise.resolve(message).then(handler)`; no mailbox, names, supervision, or stop",
  },
  {
    name: "mailbox",
    isFloor: true,
    how: "the bare mailbox of `benchmarks/harness/raw-mailbox.ts`, in a map by its name; no supervision, accounting, or streams",
  },
];
