import { type ActorOptions, defineProtocol, type RefTo, type System, Type } from "../../src/index";
import type { ManualClock } from "../../src/testing/index";

export const Gated = defineProtocol("gated", {
  work: { payload: Type.String(), reply: Type.String() },
  poke: { reply: Type.String() },
  items: { payload: Type.String(), stream: Type.String() },
});

/** An actor whose handlers end when the test lets them. */
export interface GatedActor {
  readonly ref: RefTo<typeof Gated>;
  /** What it began, in order. */
  readonly begun: readonly string[];
  /** Lets the handlers end that have waited longest, and what that sets off run. */
  release(count?: number): Promise<void>;
  /** Lets all that comes end, until nothing is left. */
  drain(): Promise<void>;
}

export function spawnGated(
  { system, clock }: { readonly system: System; readonly clock: ManualClock },
  options: ActorOptions = {},
  name = "gated",
): GatedActor {
  const begun: string[] = [];
  const gates: (() => void)[] = [];
  const pass = async (label: string): Promise<string> => {
    begun.push(label);
    await new Promise<void>((resolve) => gates.push(resolve));
    return `${label} done`;
  };
  const release = async (count = 1): Promise<void> => {
    for (const open of gates.splice(0, count)) open();
    await clock.settle();
  };
  const handlers = {
    work: pass,
    poke: () => pass("poke"),
    async *items(label: string) {
      await pass(label);
      yield `${label} 1`;
      yield `${label} 2`;
    },
  };
  return {
    ref: system.spawn(name, Gated, () => handlers, options),
    begun,
    release,
    async drain() {
      await clock.settle();
      while (gates.length > 0) await release(gates.length);
    },
  };
}
