import type { AnyRef, System } from "../index";
import type { Called, Calls, PeerOptions, Serves } from "../rpc/index";

const counts = new WeakMap<System, number>();

/** The name of a connection, such as "acp/agent-1". Its references have addresses below it. */
export function connectionName(system: System, role: "agent" | "client"): string {
  const count = (counts.get(system) ?? 0) + 1;
  counts.set(system, count);
  return `acp/${role}-${count}`;
}

/** The options of a connection that go to its peer. */
export type Limits = Pick<PeerOptions, "most" | "longest" | "maxBytes" | "maxDepth" | "maxUnsent" | "stalledAfter">;

const LIMITS = ["most", "longest", "maxBytes", "maxDepth", "maxUnsent", "stalledAfter"] as const;

/** The limits that were given. */
export const limitsIn = (options: Limits): Limits =>
  Object.fromEntries(LIMITS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));

/** Makes the thing that an actor was spawned for. Stops the actor when that throws, so a failed connection leaves nothing behind. */
export function madeFor<Made>(system: System, ref: AnyRef, make: () => Made): Made {
  try {
    return make();
  } catch (thrown) {
    void system.stop(ref);
    throw thrown;
  }
}

/** For an actor that handles everything under way on a connection. The peer bounds that (`most`). */
export const AT_ONCE = { concurrency: 1_000_000 };

/** For an ask that its own asker bounds. */
export const FOREVER = { timeout: Number.POSITIVE_INFINITY };

/**
 * Reads the option `extensions`. The types of its calls are checked where their references are made.
 *
 * @throws TypeError for names without an underscore at the beginning: they are reserved for the protocol.
 */
export function extensionsIn(extensions: object | undefined): { readonly serves: Serves; readonly calls: Calls } {
  const { serves = {}, calls = {} } = (extensions ?? {}) as { readonly serves?: Serves; readonly calls?: Calls };
  const called = Object.values(calls).flatMap(({ methods }) =>
    Object.values<string | Called | undefined>(methods).map((each) => (typeof each === "string" ? each : each?.method)),
  );
  for (const method of [...Object.keys(serves), ...called]) {
    if (method === undefined || method.startsWith("_")) continue;
    throw new TypeError(`An extension method begins with an underscore: write "_${method}" in place of "${method}".`);
  }
  const taken = ["client", "agent"].find((name) => Object.hasOwn(calls, name));
  if (taken !== undefined) {
    throw new TypeError(`The other side itself is "${taken}": give the calls of an extension another name.`);
  }
  return { serves, calls };
}
