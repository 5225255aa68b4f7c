import { type AnyRef, defineProtocol, type RefTo, type System, Type } from "../../src/index";
import { channelPair, createPeer, type Peer, type PeerOptions, type Serves } from "../../src/rpc/index";
import type { TestSystem } from "../../src/testing/index";
import { Raw } from "./raw";

const Numbers = Type.Array(Type.Number());

/** An actor for the tests of methods. */
export const Desk = defineProtocol("desk", {
  subtract: {
    payload: Type.Union([
      Type.Tuple([Type.Number(), Type.Number()]),
      Type.Object({ minuend: Type.Number(), subtrahend: Type.Number() }),
    ]),
    reply: Type.Number(),
  },
  sum: { payload: Numbers, reply: Type.Number() },
  update: { payload: Numbers },
  hello: { payload: Numbers },
  data: { reply: Type.Unknown() },
  /** Answers once it is released, or fails once it is aborted. */
  wait: { payload: Type.Object({ name: Type.String() }, { additionalProperties: true }), reply: Type.String() },
  fail: { payload: Type.Object({ how: Type.String() }), reply: Type.Unknown() },
});

/** The messages that a desk has seen, and the means to let it go on. */
export interface DeskLog {
  readonly seen: unknown[];
  /** The errors that it fails with, by name. */
  readonly failures: Record<string, () => unknown>;
  readonly aborted: string[];
  release(name: string): void;
}

export function spawnDesk(system: System, name = "desk"): { readonly desk: RefTo<typeof Desk>; readonly log: DeskLog } {
  const releases = new Map<string, () => void>();
  const log: DeskLog = {
    seen: [],
    failures: {},
    aborted: [],
    release: (of) => releases.get(of)?.(),
  };
  const desk = system.spawn(
    name,
    Desk,
    (ctx) => ({
      subtract: (given) => (Array.isArray(given) ? given[0] - given[1] : given.minuend - given.subtrahend),
      sum: (numbers) => numbers.reduce((sum, each) => sum + each, 0),
      update: (numbers) => void log.seen.push(numbers),
      hello: (numbers) => void log.seen.push(numbers),
      data: () => ["hello", 5],
      wait: ({ name: of }) =>
        new Promise((resolve, reject) => {
          releases.set(of, () => resolve(`${of} is done`));
          ctx.onAbort(() => {
            log.aborted.push(of);
            reject(ctx.signal.reason);
          });
        }),
      fail({ how }) {
        return log.failures[how]?.();
      },
    }),
    { concurrency: 10_000 },
  );
  return { desk, log };
}

/** All methods of a desk. */
export const methodsOf = (ref: AnyRef): Serves => ({
  subtract: { ref, operation: "subtract" },
  sum: { ref, operation: "sum" },
  update: { ref, operation: "update" },
  notify_hello: { ref, operation: "hello" },
  get_data: { ref, operation: "data" },
  wait: { ref, operation: "wait" },
  fail: { ref, operation: "fail" },
});

/** A desk that is served to a side which writes what it likes. */
export function serveDesk(
  test: TestSystem,
  options: Omit<PeerOptions, "calls"> = {},
): { readonly peer: Peer; readonly raw: Raw; readonly log: DeskLog } {
  const { desk, log } = spawnDesk(test.system);
  const [here, there] = channelPair();
  const peer = createPeer(test.system, here, { serves: methodsOf(desk), ...options });
  return { peer, raw: new Raw(there, test.clock), log };
}
