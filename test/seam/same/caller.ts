import type { DeliveryError, Protocol, Ref, System, Terminated } from "../../../src/index";
import { Asker, Desk, Log, Narrow } from "./protocols";

/** The place of the actors: this process, or another one. */
export interface Place extends AsyncDisposable {
  readonly system: System;
  ref<Signatures>(name: string, protocol: Protocol<string, Signatures>): Ref<Signatures>;
}

type Settled = { isOk(): boolean; value?: unknown; error?: DeliveryError };

/** What an ask or an offer came back with. */
async function told(result: PromiseLike<unknown>): Promise<unknown> {
  const { value, error } = (await result) as Settled; // A Result has one of them.
  return error === undefined ? { ok: value ?? null } : { error: error.kind, retryable: error.retryable };
}

const kindOf = (outcome: unknown): string => {
  const { error = "arrives" } = outcome as { error?: string }; // As `told` gives it.
  return error === "arrives" ? error : `\`${error}\``;
};

function causeText(cause: unknown): string {
  if (cause instanceof TypeError) return "the error itself";
  if (!(cause instanceof Error)) return "nothing";
  return `${cause.message === "out of ink" ? "its text" : "no text"}, ${cause.stack?.includes("actors.ts") ? "its stack" : "no stack"}`;
}

/** Calls the actors in each way. The program knows nothing of their place. */
export async function call({ system, ref }: Place) {
  const [desk, narrow] = [ref("desk", Desk), ref("narrow", Narrow)];
  const notes: string[] = [];
  let changed = Promise.withResolvers<void>();
  const log = system.spawn("log", Log, () => ({
    note(text) {
      notes.push(text);
      changed.resolve();
      changed = Promise.withResolvers();
    },
  }));
  const heard = async (text: string): Promise<string> => {
    while (!notes.includes(text)) await changed.promise;
    return text;
  };
  const met = await desk.ask("meet", log);
  met._unsafeUnwrap().tell("note", "the reference came home");

  // Asks, tells and offers.
  for (let number = 1; number <= 100; number++) desk.tell("add", number);
  const offered = await told(desk.offer("add", 101));
  const added = (await desk.ask("added")).unwrapOr([]);
  const deep = await told(desk.ask("echo", { deep: [1, "two", null, { three: true }], text: "ü\u2028" }));
  narrow.tell("take", "the first");
  await heard("the first is taken");
  const room = [await told(narrow.offer("take", "the second")), await told(narrow.offer("take", "the third"))];
  const full = await told(narrow.ask("take", "the fourth"));

  // Streams.
  const all: number[] = [];
  for await (const number of desk.stream("count", 50, { credit: 4 })) all.push(number);
  await heard("all were produced");
  const some: number[] = [];
  for await (const number of desk.stream("count", 1_000_000, { credit: 4 })) if (some.push(number) === 10) break;
  const failing: unknown[] = [];
  try {
    for await (const number of desk.stream("failing")) failing.push(number);
  } catch (error) {
    failing.push((error as DeliveryError).kind); // A stream throws what an ask returns.
  }

  // Progress, cancellation, deadlines, metadata.
  const giving = new AbortController();
  const half = Promise.withResolvers<readonly unknown[]>();
  const cancelled = desk.ask("never", "the first wait", {
    signal: giving.signal,
    onProgress: ({ done, total, note }) => half.resolve([done, total, note]),
  });
  const progress = await half.promise;
  await heard("the first wait has begun");
  giving.abort();
  const late = desk.ask("never", "the second wait", { timeout: 1_000 });
  const given = await Promise.all([told(cancelled), told(late)]);
  await heard("the first wait was given up");
  await heard("the second wait was given up");
  const metadata = { user: "ada", trace: { id: 7 } };
  const context = (await desk.ask("context", { metadata }))._unsafeUnwrap();
  const seen = context.metadata as Readonly<Record<string, unknown>>;

  // Errors, and what cannot be hidden.
  const failed = (await desk.ask("fail", "out of ink"))._unsafeUnwrapErr();
  const cause = failed.kind === "handler-failed" ? failed.cause : undefined;
  const unknown = await told(desk.ask("nothing" as never)); // Its name is none.
  const invalid = await told(desk.ask("fill", { lines: "none" } as never)); // Its payload is none.
  const form = { lines: ["one"] };
  const lines = await told(desk.ask("fill", form));
  const map = await told(desk.ask("echo", new Map([["a", 1]])));
  const asker = system.spawn("asker", Asker, (ctx) => ({
    async begin() {
      const { hasSender } = (await ctx.ask(desk, "context"))._unsafeUnwrap();
      return `${(await ctx.ask(desk, "askBack", ctx.self))._unsafeUnwrap()}, ${hasSender ? "a sender" : "no sender"}`;
    },
    ping: () => null,
  }));
  const [circle, sender] = (await asker.ask("begin"))._unsafeUnwrap().split(", ");

  // The end.
  const ended = Promise.withResolvers<Terminated>();
  system.spawn("watcher", Log, (ctx) => ({
    onStart: () => ctx.watch(desk, ended.resolve),
    note() {},
  }));
  desk.tell("stop");
  const end = await ended.promise;
  const stopped = await told(desk.ask("added"));

  return {
    same: {
      notes: [await heard("the reference came home"), await heard("we have met")],
      offered,
      added,
      deep,
      room,
      full,
      progress,
      all,
      some,
      left: await heard("the reader left"),
      failing,
      given,
      metadata: { user: seen["user"], trace: seen["trace"] },
      hasDeadline: context.hasDeadline,
      failed: failed.kind,
      unknown,
      lines,
      error: end.error,
      stopped,
    },
    differences: {
      "a payload that its schema refuses": kindOf(invalid).replace("`handler-failed`", "reaches the handler"),
      "a payload that JSON cannot carry": kindOf(map),
      "a handler that changes its payload": form.lines.length === 2 ? "changes the sender's" : "changes a copy",
      "`cause` of what a handler threw": causeText(cause),
      "`ctx.metadata` has beside the sender's":
        Object.keys(seen)
          .filter((key) => !(key in metadata))
          .join() || "nothing",
      "`ctx.sender` of a `ctx.ask`": sender ?? "",
      "a circle of asks": `\`${circle}\``,
      "`reason` of a watch that is told": end.reason === undefined ? "none" : `\`${end.reason}\``,
    },
  };
}
