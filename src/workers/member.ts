import {
  type Address,
  type AnyRef,
  type Context,
  defineProtocol,
  type Factory,
  type Ref,
  type System,
  Type,
} from "../index";
import { createLink, type Link } from "../link/index";
import { type Carrier, EndedByItself, startProcess, startThread } from "./carrier";
import { isControl, readFromWorker, type ToWorker } from "./control";
import type { WorkersOptions } from "./options";

/** The actor that holds a worker. It fails when the worker is gone, so that its supervisor starts another one. */
export const Member = defineProtocol("envoi/worker", { lost: { payload: Type.Unknown() } });
type MemberSignatures = { lost: (cause: unknown) => void };

/** The state of a worker at this moment. */
export interface WorkerReport {
  /** From 1: the number in its addresses. */
  readonly index: number;
  readonly state: "starting" | "ready" | "down";
  /** The id of its process; undefined for a thread, and while it is down. */
  readonly pid: number | undefined;
  /** The messages of this system whose senders wait for it: asks, offers and streams. Tells do not count, since nobody waits for them. */
  readonly waiting: number;
}

export interface MemberOptions extends WorkersOptions {
  readonly system: System;
  readonly name: string;
  readonly entryPath: string;
  /** The data as JSON; undefined where there are none. */
  readonly dataText: string | undefined;
  readonly exposed: (at: Address) => AnyRef | undefined;
  /** Told when it can be reached, and when no more. */
  readonly onState: (member: WorkerMember, isReady: boolean) => void;
}

const DOWN = new Error("The worker is being started.");
const NEVER = Number.POSITIVE_INFINITY;
const NO_FRAME = new Error("The worker sent what is no frame.");

/** One of the workers, over all its starts: the link to it lives on, and so do the references of that. */
export class WorkerMember {
  readonly index: number;
  readonly link: Link;
  /** Settles when the first start has come to an end. */
  readonly first = Promise.withResolvers<void>();
  readonly #options: MemberOptions;
  #carrier: Carrier | null = null;
  #state: WorkerReport["state"] = "down";
  /** True once its entry has called serveWorker. */
  #isHere = false;
  /** Set while it is asked to leave: called when it has. */
  #onLeft: (() => void) | null = null;
  /** When the oldest question that it has not answered was put; null while there is none. */
  #askedAt: number | null = null;
  #lastBeat = 0;
  /** Why it was ended by force. */
  #endedBy: Error | null = null;

  constructor(index: number, options: MemberOptions) {
    this.index = index;
    this.#options = options;
    const { system, name, exposed, mostUnread = NEVER } = options;
    this.link = createLink({
      system,
      prefix: `${name}/${index}/`,
      send: (text, bytes) => this.#carrier?.post(text, bytes) ?? false,
      carriesBytes: true,
      mostUnread,
      exposed,
      tellsErrors: true,
      withheldBy: () => (this.#state === "ready" ? undefined : DOWN),
    });
    this.link.lost(DOWN, "unreachable");
    this.first.promise.catch(() => undefined); // spawnWorkers waits for all and stops at the first one that fails: the others fail unheard.
  }

  get report(): WorkerReport {
    return { index: this.index, state: this.#state, pid: this.#carrier?.pid, waiting: this.link.waiting };
  }

  /** Makes the actor's next instance: each starts the worker anew. */
  readonly factory: Factory<MemberSignatures> = (ctx) => {
    this.#start(ctx);
    return {
      lost(cause) {
        throw cause;
      },
      onStop: () => this.#leave(),
    };
  };

  #start(ctx: Context<MemberSignatures>): void {
    const { as = "thread", env = {}, entryPath, readyWithin = 10_000, heartbeatEvery = 1_000 } = this.#options;
    const start = as === "thread" ? startThread : startProcess;
    const { self } = ctx;
    this.#state = "starting";
    this.#isHere = false;
    this.#askedAt = null;
    if (readyWithin !== NEVER) {
      ctx.timers.once("ready", readyWithin, () => {
        if (this.#state === "ready") return;
        this.#end(
          new Error(
            `The worker was not ready within ${readyWithin} ms: its entry calls serveWorker(), and awaits little before.`,
          ),
        );
      });
    }
    if (heartbeatEvery !== NEVER) {
      this.#lastBeat = this.#options.system.clock.monotonicTime();
      ctx.timers.fixedDelay("heartbeat", heartbeatEvery, () => this.#beat(heartbeatEvery));
    }
    try {
      const carrier = start(
        { entry: entryPath, env, clock: this.#options.system.clock },
        {
          onText: (text, bytes) => this.#carrier === carrier && this.#take(text, bytes),
          onEnd: (cause) => this.#ended(carrier, cause, self),
        },
      );
      this.#carrier = carrier;
    } catch (thrown) {
      this.#ended(null, thrown instanceof Error ? thrown : new Error(String(thrown)), self);
    }
  }

  #post(message: ToWorker): void {
    this.#carrier?.post(JSON.stringify(message));
  }

  #postStart(): void {
    const { name, dataText, mostUnread } = this.#options;
    // JSON carries no infinity, which is the default there, too.
    const bound = mostUnread === undefined || mostUnread === NEVER ? {} : { mostUnread };
    const start = JSON.stringify({ kind: "start", name, index: this.index, ...bound } satisfies ToWorker);
    this.#carrier?.post(dataText === undefined ? start : `${start.slice(0, -1)},"data":${dataText}}`);
  }

  #take(text: string, bytes: readonly unknown[] | undefined): void {
    if (!isControl(text)) {
      if (!this.link.take(text, bytes)) this.#end(NO_FRAME);
      return;
    }
    const message = readFromWorker(text);
    switch (message?.kind) {
      case undefined:
        this.#end(NO_FRAME);
        return;
      case "here":
        this.#isHere = true;
        this.#postStart();
        this.link.resume();
        return;
      case "ready":
        this.#state = "ready";
        this.first.resolve();
        this.#options.onState(this, true);
        return;
      case "failed":
        this.#end(new Error(`The worker could not begin: ${message.message}`)); // All that it said has come.
        return;
      case "refused":
        this.#end(new Error("The worker got what is no frame."));
        return;
      case "pong":
        this.#askedAt = null;
        return;
      case "left":
        this.#post({ kind: "bye" });
    }
  }

  /** Asks whether it is alive, and ends it if it has not answered for too long. */
  #beat(every: number): void {
    const { system, heartbeatLimit = 10_000 } = this.#options;
    const now = system.clock.monotonicTime();
    const wasStill = now - this.#lastBeat > every + heartbeatLimit / 2; // This event loop was blocked itself: an answer may wait here.
    this.#lastBeat = now;
    if (this.#state !== "ready") return; // Until then, readyWithin counts.
    if (this.#askedAt === null) {
      this.#askedAt = now;
      this.#post({ kind: "ping" });
    } else if (wasStill) this.#askedAt = now;
    else if (now - this.#askedAt >= heartbeatLimit) {
      this.#end(new Error(`The worker hangs: it did not answer for ${heartbeatLimit} ms (heartbeatLimit).`));
    }
  }

  /** Ends it by force, for a reason. */
  #end(cause: Error): void {
    this.#endedBy = cause;
    this.#carrier?.kill();
  }

  /** It is gone: all that waits for it is told first, and then its supervisor. */
  #ended(carrier: Carrier | null, by: Error, self: Ref<MemberSignatures>): void {
    if (this.#carrier !== carrier) return;
    const cause = this.#endedBy ?? (by instanceof EndedByItself && !this.#isHere ? by.early : by);
    this.#carrier = null;
    this.#endedBy = null;
    this.#state = "down";
    this.link.lost(cause, "died");
    this.#options.onState(this, false);
    this.first.reject(cause);
    if (this.#onLeft === null) self.tell("lost", cause);
    else this.#onLeft();
  }

  /** Asks it to leave, and waits until it has. One that does not is ended. */
  async #leave(): Promise<void> {
    if (this.#carrier === null) return;
    const { leaveWithin = 4_000, system } = this.#options;
    const left = Promise.withResolvers<void>();
    this.#onLeft = left.resolve;
    if (this.#state === "starting") this.#end(new Error("The worker was stopped while it started."));
    else this.#post(leaveWithin === NEVER ? { kind: "leave" } : { kind: "leave", within: leaveWithin });
    const late = (): void => this.#end(new Error("The worker did not leave in time."));
    const timer = leaveWithin === NEVER ? undefined : system.clock.setTimer(late, leaveWithin);
    await left.promise;
    timer?.cancel();
    this.#onLeft = null;
  }
}
