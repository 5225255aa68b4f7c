import type { Candidate, Work } from "../room";

/** What an actor does with a message; what it returns, or resolves to, answers an ask. */
export type Handler = (message: unknown) => unknown;

export type RowName =
  | "tell, 1,000 at once"
  | "ask, one after the other"
  | "ask, 100 in flight"
  | "ping-pong, a round trip"
  | "fan-out to 1,000, a message"
  | "spawn and stop"
  | "thread ring of 100, a hop"
  | "skynet, a leaf";

/** Actors that the checks are about, each made anew; a worker makes them by their names. */
export const kinds = {
  echo: (): Handler => (message) => message,

  /** Works a while when told to, and tells how many it worked at at once, at most. */
  slow: (): Handler => {
    let working = 0;
    let most = 0;
    return async (message) => {
      if (message !== "work") return most;
      most = Math.max(most, ++working);
      await Bun.sleep(20);
      working--;
      return most;
    };
  },

  /** Does not answer. */
  mute: (): Handler => () => new Promise(() => {}),

  /** Throws when told to. */
  frail: (): Handler => (message) => {
    if (message === "fail") throw new Error("as it was told to");
    return message;
  },

  /** Tells whether it runs where the process began. */
  thread: (): Handler => () => Bun.isMainThread,
} as const;

export type Kind = keyof typeof kinds;

/** What an actor of a family knows of itself. */
export interface Self<Actor> {
  readonly actor: Actor;
  /** Makes a child. */
  spawn(name: string, make: Make<Actor>): Actor | Promise<Actor>;
  stop(): void;
}

export type Make<Actor> = (self: Self<Actor>) => Handler;

/** A library of actors, as its users call it. Nothing stands between a row and the library but what its users would write. */
export interface ActorPeer<Actor = unknown> {
  /** Makes an actor; left out where a handler cannot be handed over, since it runs elsewhere. */
  spawn?(name: string, handler: Handler): Actor | Promise<Actor>;
  /** Makes an actor that may make others; left out where there are none. */
  spawnParent?(name: string, make: Make<Actor>): Actor | Promise<Actor>;
  /** Makes an actor of one of the kinds in `kinds`, for a peer without `spawn`. */
  spawnKind?(kind: Kind): Actor | Promise<Actor>;
  tell(to: Actor, message: unknown): void;
  /** Asks, where the peer has a timeout with one of so many milliseconds, or `ASK_TIMEOUT`. What comes is for `valueOf`. */
  ask(to: Actor, message: unknown, timeout?: number): Promise<unknown>;
  /** The reply in what an ask gave; throws where it is none. */
  valueOf(answer: unknown): unknown;
  /** Stops an actor, and tells when it is. */
  stop?(actor: Actor): void | Promise<void>;
  /** Rows that its users would write in another way. */
  readonly own?: Partial<Record<RowName, () => Work | Promise<Work>>>;
}

/** Parents of a peer whose children are spawned as all its actors are. */
export function parentsBy<Actor>(
  spawn: (name: string, handler: Handler) => Actor,
  stop: (actor: Actor) => void,
): (name: string, make: Make<Actor>) => Actor {
  const spawnParent = (name: string, make: Make<Actor>): Actor => {
    let handler: Handler | undefined; // Made with the first message, when the actor is known.
    const actor = spawn(name, (message) => {
      handler ??= make({ actor, spawn: spawnParent, stop: () => stop(actor) });
      return handler(message);
    });
    return actor;
  };
  return spawnParent;
}

/** How long an ask of a row may take, in milliseconds, where the peer has a timeout; which is what envoi has by default. */
export const ASK_TIMEOUT = 5_000;

export const NO_ASK = "no ask of its own: a function that resolves a promise goes in the message";

const WORKER = "an actor is a worker, of which a process bears few";

export const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    module: "envoi.ts",
    packages: [],
    how: "actors of this repository, told and asked through their references, with the timeout that an ask has by default",
  },
  {
    name: "nact",
    module: "nact.ts",
    packages: ["nact"],
    how: "`spawn`, `dispatch` and `query`, whose timeout is given; one `setImmediate` a message",
  },
  {
    name: "xstate",
    module: "xstate.ts",
    packages: ["xstate"],
    how: "actors of `fromTransition`, the lightest of its logics that take events",
    said: [NO_ASK],
  },
  {
    name: "effect",
    module: "effect.ts",
    packages: ["effect"],
    how: "a fiber that takes from an unbounded `Queue`; asks by a `Deferred` within `Effect.timeout`, by a program that runs in one fiber",
    said: ["no actors of its own: a fiber and a queue, as its users put them together"],
  },
  {
    name: "comedy",
    module: "comedy.ts",
    packages: ["comedy"],
    how: "in-memory actors, `send` and `sendAndReceive`",
  },
  {
    name: "akkajs",
    module: "akkajs.ts",
    packages: ["akkajs"],
    how: "Akka compiled to JavaScript: `tell`, with its log switched off",
    said: [NO_ASK],
  },
  {
    name: "comlink",
    module: "comlink.ts",
    packages: ["comlink"],
    how: "an object in a worker, called through its proxy; each call is an ask, a tell is one whose answer nobody reads; ping-pong over a channel between two workers",
    without: {
      "fan-out to 1,000, a message": WORKER,
      "thread ring of 100, a hop": WORKER,
      "skynet, a leaf": WORKER,
      "heap of an idle actor": "an actor has a JavaScript heap of its own, outside the one that is read",
      "a message goes along 20,000 actors": WORKER,
      "a stopped actor handles nothing": "its thread has ended",
    },
    said: ["no mailbox: an object, whose methods are called as the calls come"],
  },
  {
    name: "fastq",
    module: "fastq.ts",
    packages: ["fastq"],
    isFloor: true,
    how: "a queue for each actor, worked off one by one; asks by a callback that resolves a promise",
    without: { "spawn and stop": "a queue has nothing to stop", "a stopped actor handles nothing": "nothing stops" },
    said: ["a queue, no actors: no names, supervision, or stop"],
  },
  {
    name: "promise",
    module: "promise.ts",
    packages: [],
    isFloor: true,
    how: "a bare promise: `Promise.resolve(message).then(handler)`",
    without: {
      "spawn and stop": "a function has nothing to stop",
      "heap of an idle actor": "it is the handler alone",
      "a stopped actor handles nothing": "nothing stops",
    },
    said: ["a function, no actors: no mailbox, names, supervision, or stop"],
  },
  {
    name: "mailbox",
    module: "mailbox.ts",
    packages: [],
    isFloor: true,
    how: "the bare mailbox of `benchmarks/harness/raw-mailbox.ts`, in a map by its name",
    without: { "a stopped actor handles nothing": "nothing stops" },
    said: ["ten lines: no supervision, accounting, or streams"],
  },
];
