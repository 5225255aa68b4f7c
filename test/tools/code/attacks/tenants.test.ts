import { expect, test } from "bun:test";
import { isLong } from "../../../property/runs";
import { errorIn, valueIn } from "../tiers";
import { type Arena, inEachArena } from "./arena";

const open = async ({ code }: Arena): Promise<string> => {
  const opened = (await code.ask("session", {}))._unsafeUnwrap();
  return opened.ok ? opened.value.session : opened.error.message;
};

inEachArena("Many tenants", { concurrency: 2 }, (arena) => {
  const { run, isolation } = arena;

  const atOnce = isLong ? 200 : 40;
  test(`have their own value, logs and calls each, where ${atOnce} run at once`, async () => {
    const body = `console.log("of", input); const echoed = await tools.desk.echo({ of: input }); progress(input)
      globalThis.seen ??= []; globalThis.seen.push(input); return [input, globalThis.seen, echoed.of]`;
    const all = await Promise.all(
      Array.from({ length: atOnce }, (_, index) => run(body, { input: `tenant ${index}` })),
    );
    for (const [index, outcome] of all.entries()) {
      const own = `tenant ${index}`;
      expect(valueIn(outcome)).toEqual([own, [own], own]);
      expect(outcome.ok && outcome.value.logs).toMatchObject([{ text: `of ${own}` }]);
    }
    expect(new Set(arena.asked.map((given) => JSON.stringify(given))).size).toBe(atOnce);
  }, 600_000);

  test("are served though others loop, hoard, flood and crash meanwhile", async () => {
    const bad = [
      "for (;;);",
      "const a = []; for (;;) a.push([1])",
      "for (;;) console.log('x'.repeat(1e4))",
      "f(); function f() { f() }",
      "throw 1",
    ];
    const all = await Promise.all(
      Array.from({ length: isLong ? 60 : 30 }, async (_, index) => {
        const isBad = index % 3 === 0;
        const body = isBad ? (bad[(index / 3) % bad.length] ?? "") : `console.log("mine", input); return input`;
        const outcome = await run(body, { input: index, ...(isBad && { timeout: 50 }) });
        return { index, isBad, outcome };
      }),
    );
    for (const { index, isBad, outcome } of all) {
      if (isBad) expect(outcome.ok).toBe(false);
      else expect(outcome).toMatchObject({ ok: true, value: { value: index, logs: [{ text: `mine ${index}` }] } });
    }
  });

  test("find nothing of each other: not on what all share, not by time, not in what a failed run left", async () => {
    const mark =
      "globalThis.mark = Object.prototype.mark = Promise.mark = input; Error.stackTraceLimit = 3; console.log(input)";
    const look =
      "return [typeof mark, ({}).mark ?? null, Promise.mark ?? null, Object.keys(globalThis).includes('mark')]";
    for (const end of ["", "; throw new Error(input)", "; for (;;);", "; await tools.desk.never()"]) {
      await run(mark + end, { input: "of another", timeout: 40 });
      const outcome = await run(look);
      expect(valueIn(outcome)).toEqual(["undefined", null, null, false]);
      expect(JSON.stringify(outcome)).not.toContain("of another");
    }
  });

  test("find nothing of each other in memory that is new, or was given back", async () => {
    const fill =
      "const a = []; for (let i = 0; i < 100; i++) a.push('of another '.repeat(10_000) + i, new Uint8Array(1e5).fill(77)); return a.length";
    const look = `const found = []; for (let i = 0; i < 50; i++) { const bytes = new Uint8Array(1e5); if (bytes.some((byte) => byte !== 0)) found.push(i) }
      const uninitialised = Array.from({ length: 1000 }); if (uninitialised.some((each) => each !== undefined)) found.push("list"); return found`;
    for (let round = 0; round < (isLong ? 3 : 1); round++) {
      expect(valueIn(await run(fill))).toBe(200);
      expect(valueIn(await run(look))).toEqual([]);
    }
  });

  test("draw different random numbers", async () => {
    const drawn = new Set<unknown>();
    for (let round = 0; round < 10; round++) drawn.add(valueIn(await run("return Math.random()")));
    expect(drawn.size).toBe(10);
  });

  test("have sessions that only those know who opened them", async () => {
    const [mine, others] = [await open(arena), await open(arena)];
    await arena.execute("var secret = 'mine'; console.log(secret)", { session: mine, language: "javascript" });
    const look = await arena.execute("[typeof secret, Object.keys(globalThis).includes('secret')]", {
      session: others,
      language: "javascript",
    });
    expect(valueIn(look)).toEqual(["undefined", false]);
    expect(look.ok && look.value.logs).toEqual([]);
    for (const guess of [mine.slice(0, -1), mine.toUpperCase(), `${mine} `, "0", "__proto__"]) {
      expect(errorIn(await arena.execute("1", { session: guess })).kind).toBe("unavailable");
    }
    // Runs beside a session cannot reach its variables.
    expect(valueIn(await run("return typeof secret"))).toBe("undefined");
    for (const session of [mine, others]) await arena.code.ask("endSession", { session });
    expect(errorIn(await arena.execute("1", { session: mine })).kind).toBe("unavailable");
  });

  test("lose their own session only, when they end its process", async () => {
    const [mine, others] = [await open(arena), await open(arena)];
    await arena.execute("var kept = 1", { session: mine, language: "javascript" });
    await arena.execute("var kept = 2", { session: others, language: "javascript" });
    const end = isolation === "sandbox" ? "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)" : "for (;;);";
    expect((await arena.execute(end, { session: others, language: "javascript", timeout: 50 })).ok).toBe(false);
    // Its process lives half a second longer, for a busy machine's sake, and takes what comes meanwhile with it.
    expect(errorIn(await arena.execute("kept", { session: others })).kind).toBe("crashed");
    expect(errorIn(await arena.execute("kept", { session: others })).kind).toBe("unavailable");
    expect(valueIn(await arena.execute("kept", { session: mine, language: "javascript" }))).toBe(1);
    await arena.code.ask("endSession", { session: mine });
  });
});
