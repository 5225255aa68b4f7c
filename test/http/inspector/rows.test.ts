import { describe, expect, test } from "bun:test";
import type { TreeRow } from "../../../src/http/inspector/shapes";
import type { Factory, SignaturesOf } from "../../../src/index";
import { inspected, named, open, spawnBoss, spawnWorker, Worker } from "./service";

describe("The tree of the inspector", () => {
  test.each([0, 50, 100, 150, 200])(
    "shows the busiest first, and those that are as busy in their order, from %p on",
    async (from) => {
      const { system, clock, look } = inspected();
      const work = (n: number): number => (n * 7) % 13;
      const workers = Array.from({ length: 260 }, (_, n) => spawnWorker(system, `worker-${n}`));
      await using page = await look(`order=rate&open=${from}.${encodeURIComponent("*/worker-*")}`);
      await page.next();
      for (const [n, worker] of workers.entries()) for (let sent = 0; sent < work(n); sent++) worker.tell("work", n);
      await clock.settle();
      const busiest = [...workers.keys()].sort((a, b) => work(b) - work(a)); // A sort is stable.
      const { rows } = await page.later();
      expect(rows.filter(({ level, kind }) => level === 2 && kind === "actor").map(({ name }) => name)).toEqual(
        busiest.slice(from, from + 50).map((n) => `worker-${n}`),
      );
    },
  );

  test("says where it goes on, where more lines are open than it has room for", async () => {
    const { system, look } = inspected();
    const pools = "abcdefghijkl".split("");
    for (const pool of pools) spawnBoss(system, pool, named("worker", 60));
    const groups = pools.map((pool) => `*@(${pool})/worker-*`);
    const all = open(...pools.map((pool) => `@(${pool})`), ...groups);
    const shown = async (query: string): Promise<readonly TreeRow[]> => {
      await using page = await look(query);
      return (await page.next()).rows;
    };
    const rows = await shown(all);
    expect(rows.length).toBeLessThan(510);
    const { kind, level, of, from = 0 } = rows.at(-1) ?? {};
    expect([kind, level, of]).toEqual(["page", 1, ""]);
    const roots = [...rows, ...(await shown(`open=${from}.&${all}`))].filter(
      (row) => row.level === 1 && row.kind === "actor",
    );
    expect(new Set(roots.map(({ name }) => name))).toEqual(new Set(pools));
    const workers = (row: TreeRow): boolean => row.level === 3 && row.kind === "actor";
    const cut = rows.findLast((row) => row.level === 3 && row.kind === "page");
    expect(rows.slice(rows.indexOf(cut as TreeRow) - 1).filter(workers).length).toBe(1); // The group that was cut says so.
  });

  test("opens lines at any depth, with keys that fit into a URL", async () => {
    const { system, look } = inspected();
    const level =
      (left: number): Factory<SignaturesOf<typeof Worker>> =>
      (ctx) => {
        if (left > 0) ctx.spawn(`l${left}`, Worker, level(left - 1));
        return { work: (n) => n, fail() {}, wait() {} };
      };
    system.spawn("root", Worker, level(119)); // An address has 512 characters at most.
    const keys: string[] = [];
    for (let depth = 1; depth <= 120; depth++) {
      await using page = await look(open(...keys));
      const { rows } = await page.next();
      expect(rows.map(({ level }) => level)).toEqual(Array.from({ length: depth }, (_, above) => above + 1));
      keys.push(rows.at(-1)?.key ?? "");
    }
    expect(new Set(keys).size).toBe(120);
    expect(open(...keys).length).toBeLessThan(8_000);
  });
});
