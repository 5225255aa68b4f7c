import { describe, expect, test } from "bun:test";
import { randomOf } from "../../../src/tools/code/repeat";
import { errorIn, valueIn, ways, withCode } from "./tiers";

const NUMBERS = "[Math.random(), Math.random(), Math.random()]";
const NOW = Date.UTC(2024, 1, 29, 12);

for (const { isolation, language } of ways) {
  describe(`Runs that repeat: ${isolation}, ${language}`, () => {
    test("a seed gives the same numbers in each run and in each tier, and only there", async () => {
      await withCode(
        { isolation },
        async (run) => {
          for (const seed of [0, 1, 42, Number.MAX_SAFE_INTEGER]) {
            const random = randomOf(seed);
            const numbers = [random(), random(), random()];
            expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
            expect(valueIn(await run(NUMBERS, { seed }))).toEqual(numbers);
            expect(valueIn(await run(NUMBERS, { seed }))).toEqual(numbers);
          }
          const [one, other] = [valueIn(await run(NUMBERS)), valueIn(await run(NUMBERS))];
          expect(one).not.toEqual(other);
          expect(valueIn(await run("[Math.max(1, 2), Math.PI > 3, Object.keys(Math).length]", { seed: 1 }))).toEqual([
            2,
            true,
            0,
          ]);
        },
        language,
      );
    });

    test("a time that is given stands still for that run, for each way to ask", async () => {
      const code = `const first = Date.now();
        for (let n = 0; n < 20_000; n++) Math.sqrt(n);
        await null;
        const made = new Date();
        class Later extends Date {}
        [first, made.getTime(), Date.now(), typeof Date(), new Date(0).getTime(), new Date(2020, 0, 2).getDate(), made instanceof Date,
          new Later().getTime(), new Later() instanceof Later, Date.UTC(1970, 0), Date.parse("1970-01-01T00:00:00Z"), Date.name, Date.length,
          JSON.stringify(made)]`;
      const expected = [NOW, NOW, NOW, "string", 0, 2, true, NOW, true, 0, 0, "Date", 7, '"2024-02-29T12:00:00.000Z"'];
      await withCode(
        { isolation },
        async (run) => {
          expect(valueIn(await run(code, { now: NOW }))).toEqual(expected);
          expect(Math.abs((valueIn(await run("Date.now()")) as number) - Date.now())).toBeLessThan(600_000);
        },
        language,
      );
      expect(Date.now()).toBeGreaterThan(NOW); // The host's own goes on.
    });

    test("in a session a seed is gone on with, and a time is that of its execution", async () => {
      await withCode(
        { isolation },
        async (run, ref) => {
          const opened = (await ref.ask("session", {}))._unsafeUnwrap();
          if (!opened.ok) throw new Error(opened.error.message);
          const { session } = opened.value;
          const random = randomOf(7);
          expect(valueIn(await run("Math.random()", { session, seed: 7, now: 5 }))).toBe(random());
          expect(valueIn(await run("Math.random()", { session }))).toBe(random());
          expect(valueIn(await run("const at = new Date(); [Date.now(), +at]", { session, now: 5 }))).toEqual([5, 5]);
          expect(valueIn(await run("Date.now() > 1e12 && new Date() > 1e12", { session }))).toBe(true);
          expect(valueIn(await run("at instanceof Date && new at.constructor(3).getTime()", { session }))).toBe(3);
          expect(valueIn(await run("Math.random()", { session, seed: 7 }))).toBe(randomOf(7)());
        },
        language,
      );
    });
  });
}

test("a time that is given keeps no timer and no limit from its own time", async () => {
  await withCode({ isolation: "sandbox" }, async (run) => {
    expect(valueIn(await run("await new Promise((done) => setTimeout(done, 2)); Date.now()", { now: 9 }))).toBe(9);
    expect(errorIn(await run("while (Date.now() < 10);", { now: 9, timeout: 50 })).kind).toBe("timeout");
  });
});

test("a seed or a time that is none is refused", async () => {
  await withCode({ isolation: "trusted" }, async (_, ref) => {
    for (const wrong of [{ seed: -1 }, { seed: 0.5 }, { seed: 2 ** 60 }, { now: 1e16 }, { now: 0.5 }]) {
      const answer = await ref.ask("execute", { code: "1", ...wrong });
      expect(answer.isErr() && answer.error.kind).toBe("invalid-payload");
    }
  });
});
