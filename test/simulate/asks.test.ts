import { describe, expect, test } from "bun:test";
import {
  type ActorOptions,
  type AskOptions,
  type AskResult,
  createMessage,
  defineProtocol,
  type RefTo,
  Type,
} from "../../src/index";
import {
  type Faults,
  type SeededRandom,
  SimulatedFault,
  type SimulatedProgram,
  simulate,
} from "../../src/testing/index";
import { runs } from "../property/runs";
import { expectBalanced } from "./balanced";

/** How a service does what it is asked for; `inner` is what it asks the services above it for. */
interface Job {
  readonly id: number;
  readonly way: "at once" | "later" | "until given up" | "throws" | "throws later";
  readonly pause: number;
  readonly inner: readonly Job[];
  readonly timeout: number | undefined;
}

const Service = defineProtocol("service", { work: { payload: Type.Unsafe<Job>({}), reply: Type.Number() } });

const SERVICES = 4;
const ASKS = 10;

class Refusal extends Error {}

/** What became of the asks. */
interface Seen {
  replies: number;
  timeouts: number;
  cancelled: number;
  failed: number;
  late: number;
}

const optionsOf = (random: SeededRandom): ActorOptions => ({
  ...random.pick<ActorOptions>([{}, {}, { capacity: 2, overflow: "wait" }, { capacity: 2, overflow: "drop-oldest" }]),
  ...random.pick<ActorOptions>([{}, { concurrency: 3 }, { priority: (_, job) => (job as Job).id % 3 }]),
});

const asking =
  (seen: Seen): SimulatedProgram =>
  async (simulation) => {
    const { system, random, always, eventually, advance } = simulation;
    const services: RefTo<typeof Service>[] = [];
    const pending = new Set<number>();
    const givenUp = new Set<number>();
    const returned = new Map<number, number>(); // How often a handler came to its good end.
    const innerOf = new Map<number, readonly Job[]>();
    let ids = 0;
    const late: number[] = [];
    /** Asks that were refused or cancelled: their promises may settle a turn later (P5). */
    const ended = new Set<number>();
    let untold = 0; // What such a handler throws is no failure: it is counted instead.
    system.router.deadLetters.subscribe(({ reason, message }) => {
      const { id } = message.payload as Job; // There is nothing but jobs.
      if (reason === "late-reply") late.push(id);
      else ended.add(id);
    });
    always(() => {
      expectBalanced(system);
      if (untold > 0) throw new Error("a handler was given up, and its signal does not say so");
      for (const id of givenUp) {
        // An inner ask does not outlive the outer one.
        for (const inner of innerOf.get(id) ?? []) if (!ended.has(inner.id)) expect(pending).not.toContain(inner.id);
      }
    });

    const drawJob = (depth: number): Job => ({
      id: ids++,
      way: random.pick(["at once", "at once", "later", "later", "until given up", "throws", "throws later"]),
      pause: random.below(8),
      inner: Array.from({ length: depth === 0 ? 0 : random.below(3) }, () => drawJob(depth - 1)),
      timeout: random.chance(0.5) ? 1 + random.below(15) : undefined,
    });

    /** Asks, and holds what comes back to what happened. */
    const watched = async (
      job: Job,
      ask: (options: AskOptions) => Promise<AskResult>,
      outer: AbortSignal | null = null,
    ): Promise<void> => {
      const begun = simulation.now;
      const controller = random.chance(0.2) ? new AbortController() : null;
      if (controller !== null) {
        void advance(random.below(10)).then(() => {
          ended.add(job.id);
          controller.abort();
        });
      }
      pending.add(job.id);
      const result = await ask({
        ...(job.timeout === undefined ? {} : { timeout: job.timeout }),
        ...(controller === null ? {} : { signal: controller.signal }),
      });
      expect(pending.delete(job.id)).toBe(true); // P6: once.
      if (result.isOk()) {
        seen.replies++;
        expect(result.value).toBe(job.id);
        expect(returned.get(job.id)).toBe(1);
        return;
      }
      const { error } = result;
      if (error.kind === "timeout") {
        seen.timeouts++;
        givenUp.add(job.id);
        const took = simulation.now - begun;
        if (outer?.aborted === true) return; // It ended with the ask that it serves, whose time is looked at.
        expect(took).toBeLessThanOrEqual((job.timeout ?? 5_000) + 1);
        expect(took).toBeGreaterThanOrEqual(Math.min(error.timeout, job.timeout ?? 5_000));
      } else if (error.kind === "cancelled") {
        seen.cancelled++;
        givenUp.add(job.id);
      } else if (error.kind === "handler-failed") {
        seen.failed++;
        expect(error.cause instanceof Refusal || error.cause instanceof SimulatedFault).toBe(true);
      } else expect(["stopped", "mailbox-full", "no-recipient"]).toContain(error.kind);
    };

    for (let own = 0; own < SERVICES; own++) {
      const service = system.spawn(
        `service-${own}`,
        Service,
        (ctx) => ({
          async work(job) {
            const { id, way, pause, inner } = job;
            const { signal } = ctx;
            const asked = own + 1 < SERVICES ? inner : [];
            innerOf.set(id, asked);
            const isParallel = id % 2 === 0;
            const parts: Promise<void>[] = [];
            for (const part of asked) {
              const to = services[own + 1 + (part.id % (SERVICES - own - 1))];
              if (to === undefined) continue;
              const done = watched(part, (options) => ctx.ask(to, "work", part, options), signal);
              if (isParallel) parts.push(done);
              else await done;
            }
            await Promise.all(parts);
            if (way === "throws") throw new Refusal();
            if (way === "later" || way === "throws later") await advance(pause);
            if (way === "until given up" && !signal.aborted) {
              await Promise.race([advance(50), new Promise((resolve) => signal.addEventListener("abort", resolve))]);
            }
            if (givenUp.has(id) && !signal.aborted) untold++; // P7
            if (way === "throws later") throw new Refusal();
            returned.set(id, (returned.get(id) ?? 0) + 1);
            return id;
          },
        }),
        optionsOf(random),
      );
      services.push(service);
    }

    const all = Array.from({ length: ASKS }, async () => {
      await advance(random.below(20));
      const job = drawJob(2);
      const to = random.pick(services);
      const byRouter = random.chance(0.3);
      await watched(job, (options) =>
        byRouter ? system.router.ask(createMessage(to.address, "work", job), options) : to.ask("work", job, options),
      );
    });
    await Promise.all(all);
    eventually(() => {
      expect([...pending]).toEqual([]);
      const tooLate = [...returned.keys()].filter((id) => givenUp.has(id));
      expect(new Set(late)).toEqual(new Set(tooLate)); // P7: a late reply becomes a dead letter, once.
      expect(late.length).toBe(tooLate.length);
      seen.late += late.length;
    });
  };

const rows: [name: string, faults: Faults][] = [
  ["without faults", {}],
  ["with turns that come late", { delay: 0.1 }],
  ["with handlers that throw", { throw: 0.05 }],
  ["with actors that die", { stop: 0.005 }],
  ["with waits that expire", { expire: 0.05 }],
  ["with all of that", { throw: 0.02, stop: 0.003, delay: 0.05, expire: 0.03 }],
];

describe("P6, P7: every ask settles once and in time, with its own reply, and giving up is told:", () => {
  for (const [name, faults] of rows) {
    test(name, async () => {
      const seen: Seen = { replies: 0, timeouts: 0, cancelled: 0, failed: 0, late: 0 };
      await simulate(asking(seen), {
        seeds: runs(200).numRuns,
        faults,
        expected: ({ error }) => error instanceof Refusal,
      });
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
    });
  }
});
