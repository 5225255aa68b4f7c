import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Census } from "../../../src/http/inspector/census";
import { patternOf } from "../../../src/http/inspector/names";
import { createSystem, type System } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { runs } from "../../property/runs";
import { spawnWorker, type WorkerRef } from "./service";

describe("The pattern of a name", () => {
  test.each([
    ["worker-17", "worker-*"],
    ["worker17", "worker*"],
    ["subscription17", "subscription*"],
    ["clerk", "clerk"],
    ["room-3-seat-12", "room-*-seat-*"],
    ["1-2-3", "*"],
    ["session-018f6a3e-7c1d-7b2a-9f00-0123456789ab", "session-*"],
    ["s_V1StGXR8Z5jdHi6Bmy", "s_V1StGXR8Z5jdHi6Bmy".replace(/_.*/, "_*")],
    ["user.a3f9e2", "user.*"],
    ["2026-11-23", "*"],
    ["", ""],
  ])("%s is %s", (name, pattern) => expect(patternOf(name)).toBe(pattern));

  test("of a name of any length is found at once, and is its own pattern", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const pattern = patternOf(name);
        expect(patternOf(pattern)).toBe(pattern);
        expect(pattern.length).toBeLessThanOrEqual(200);
      }),
      runs(100),
    );
    expect(patternOf("1-".repeat(50_000)).length).toBeLessThan(200);
  });
});

/** One step of what happens between two looks, or in the midst of one. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("spawn" as const), name: fc.constantFrom("a", "b", "w-1", "w-2", "w-3", "w-4", "x7") }),
  fc.record({ kind: fc.constant("stop" as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant("work" as const), at: fc.nat(20), times: fc.nat(5) }),
  fc.record({ kind: fc.constant("look" as const), slice: fc.integer({ min: 1, max: 4 }) }),
);

test("A census has the numbers of each actor since the look before, whatever comes and goes, also in its midst", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = createManualClock();
      const system: System = createSystem({ clock, logger: { warn() {}, error() {} } });
      const census = new Census(system);
      const actors: WorkerRef[] = [];
      let handled = new Map<unknown, number>();
      let looking = 0;

      const finish = (): void => {
        if (looking > 0) while (!census.look(looking));
        looking = 0;
      };
      for (const each of steps) {
        switch (each.kind) {
          case "spawn":
            if (!actors.some((actor) => actor.address === `@(${each.name})`))
              actors.push(spawnWorker(system, each.name));
            break;
          case "stop": {
            const [actor] = actors.splice(each.at % Math.max(actors.length, 1), 1);
            if (actor !== undefined) void system.stop(actor);
            break;
          }
          case "work":
            for (let count = 0; count < each.times; count++)
              actors[each.at % Math.max(actors.length, 1)]?.tell("work", 1);
            break;
          case "look":
            finish();
            census.begin(1);
            looking = census.look(each.slice) ? 0 : each.slice; // The rest comes after the next step.
            break;
        }
        await clock.settle();
      }
      finish();
      census.begin(1);
      while (!census.look(3));
      handled = new Map(census.known.map((known) => [known.ref, known.handled]));
      for (const actor of actors) actor.tell("work", 1);
      const [gone] = actors.splice(0, 1);
      if (gone !== undefined) void system.stop(gone, { drain: true });
      await clock.settle();
      census.begin(1);
      while (!census.look(3));
      const views = [...system.actors()];
      expect(census.known.map(({ ref }) => ref)).toEqual(views.map(({ ref }) => ref));
      expect(census.known.map((known) => known.handled)).toEqual(views.map((view) => view.handled));
      expect(census.known.map(({ rate }) => rate)).toEqual(
        views.map(({ ref, handled: now }) => now - (handled.get(ref) ?? 0)),
      );
      const grouped = [...census.roots.groups.values()].flatMap(({ members }) => members);
      expect(new Set(grouped)).toEqual(new Set(census.known));
      expect(census.rate).toBe(actors.length);
      await system.shutdown();
    }),
    runs(60),
  );
});
