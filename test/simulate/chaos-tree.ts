import {
  type Address,
  type AskError,
  type Audit,
  address,
  createMessage,
  createSystem,
  defineProtocol,
  type Factory,
  type RefTo,
  type SignaturesOf,
  type Supervision,
  Type,
} from "../../src/index";
import { createManualClock, createRandom, type ManualClock, type SeededRandom } from "../../src/testing/index";

const Node = defineProtocol("node", {
  note: { payload: Type.Number() },
  work: { payload: Type.Number(), reply: Type.Number() },
});
type NodeSignatures = SignaturesOf<typeof Node>;

/** What a chaos came to. */
export interface Chaos {
  readonly actors: number;
  readonly accepted: number;
  /** Of the asks from outside: what each came back with, and how many came back not once. */
  readonly asks: number;
  readonly replies: number;
  readonly errors: Readonly<Partial<Record<AskError["kind"], number>>>;
  readonly notOnce: number;
  readonly crashes: number;
  readonly stops: number;
  readonly restarts: number;
  /** What is missing in the audit before and after the shutdown, and what it still counts as queued or running. */
  readonly unbalanced: number;
  readonly left: number;
  readonly unfinished: readonly Address[];
  readonly timers: number;
}

/** How many children an actor of each level has: 1 + 9 + 90 + 900 actors. */
const CHILDREN = [9, 10, 10, 0];
const MINUTE = 60_000;
const TICK = 100;

class Crash extends Error {}

/** What the actors of a chaos share. */
interface World {
  readonly clock: ManualClock;
  readonly random: SeededRandom;
  crashes: number;
}

function superviseAtRandom(random: SeededRandom): Supervision {
  const weighted = [
    "restart",
    "restart",
    "restart",
    "restart",
    "restart",
    "resume",
    "resume",
    "stop",
    "escalate",
  ] as const;
  return {
    strategy: random.pick(["one-for-one", "one-for-one", "one-for-all", "rest-for-one"] as const),
    decide: () => random.pick(weighted),
    ...random.pick<Supervision>([{}, { limit: Number.POSITIVE_INFINITY }, { limit: 2, within: 1_000 }]),
    ...random.pick<Supervision>([{}, { backoff: { initial: 20, max: 500 } }]),
  };
}

/** An actor that works, delegates, crashes, and puts another child in the place of one that has stopped. */
const nodeOf =
  (world: World, level: number): Factory<NodeSignatures> =>
  (ctx) => {
    const { random, clock } = world;
    const children: RefTo<typeof Node>[] = [];
    const spawn = (child: number): void => {
      const ref = ctx.spawn(`${child}`, Node, nodeOf(world, level + 1), { supervision: superviseAtRandom(random) });
      children[child] = ref;
      ctx.watch(ref, () => spawn(child));
    };
    for (let child = 0; child < (CHILDREN[level] ?? 0); child++) spawn(child);
    let noted = 0;
    const crash = (chance: number): void => {
      if (!random.chance(chance)) return;
      world.crashes++;
      throw new Crash();
    };
    return {
      note(n) {
        noted += n;
        crash(0.01);
      },
      async work(hops) {
        crash(0.02);
        if (random.chance(0.05)) await new Promise<void>((resolve) => void clock.setTimer(resolve, random.below(200)));
        crash(0.005);
        if (hops === 0 || children.length === 0) return noted;
        const child = random.pick(children);
        ctx.tell(random.pick(children), "note", 1);
        const reply = await ctx.ask(
          child,
          "work",
          hops - 1,
          random.chance(0.3) ? { timeout: 5 + random.below(50) } : {},
        );
        return reply.isOk() ? reply.value : 0;
      },
      onStop: () => crash(0.01),
    };
  };

/** A minute in which a tree of 1,000 actors gets `messages` from outside while its actors crash and are stopped. */
export async function chaos(messages: number, seed: number): Promise<Chaos> {
  const clock = createManualClock();
  const random = createRandom(seed);
  const quiet = { warn: () => undefined, error: () => undefined };
  const system = createSystem({
    clock,
    logger: quiet,
    random: () => random.next(),
    supervision: { limit: Number.POSITIVE_INFINITY },
  });
  const { router } = system;
  const world: World = { clock, random, crashes: 0 };
  let restarts = 0;
  system.events.subscribe(({ kind }) => {
    if (kind === "restarted") restarts++;
  });
  const spawnTop = (): void => void system.spawn("top", Node, nodeOf(world, 0));
  spawnTop();
  const names = namesBelow("top", 0);
  const actors = names.filter((name) => router.has(name)).length;

  const settled: number[] = [];
  const errors: Partial<Record<AskError["kind"], number>> = {};
  let replies = 0;
  let stops = 0;
  const ask = (to: Address): void => {
    const id = settled.push(0) - 1;
    const options = random.chance(0.2) ? { timeout: 1 + random.below(100) } : {};
    const reply = router.ask(createMessage(to, "work", random.below(3)), options);
    void reply.then((result) => {
      settled[id] = (settled[id] ?? 0) + 1;
      if (result.isOk()) replies++;
      else errors[result.error.kind] = (errors[result.error.kind] ?? 0) + 1;
    });
  };
  const ticks = MINUTE / TICK;
  for (let tick = 0; tick < ticks; tick++) {
    for (let i = 0; i < messages / ticks; i++) {
      const to = random.pick(names);
      if (random.chance(0.4)) ask(to);
      else router.tell(createMessage(to, "note", 1));
    }
    if (!router.has(address("top"))) spawnTop(); // Nobody watches that one.
    for (let i = random.below(3); i > 0; i--) {
      stops++;
      void router.unregister(random.pick(names));
    }
    await clock.advance(TICK);
  }
  await clock.advance(10_000); // The longest wait of an ask, and the longest backoff, are over by then.
  const before = router.audit();
  const down = system.shutdown();
  await clock.advance(6_000);
  const { unfinished } = await down;
  await clock.advance(2_000); // The window of the log of dead letters closes.
  const after = router.audit();
  return {
    actors,
    accepted: after.accepted,
    asks: settled.length,
    replies,
    errors,
    notOnce: settled.filter((times) => times !== 1).length,
    crashes: world.crashes,
    stops,
    restarts,
    unbalanced: Math.abs(missing(before)) + Math.abs(missing(after)),
    left: before.queued + before.running + after.queued + after.running,
    unfinished,
    timers: clock.timers,
  };
}

function namesBelow(name: string, level: number): Address[] {
  const children = Array.from({ length: CHILDREN[level] ?? 0 }, (_, child) =>
    namesBelow(`${name}/${child}`, level + 1),
  );
  return [address(name), ...children.flat()];
}

const missing = ({ accepted, handled, failed, dead, queued, running }: Audit): number =>
  accepted - handled - failed - dead - queued - running;
