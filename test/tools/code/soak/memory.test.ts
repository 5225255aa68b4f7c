import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createSystem, defineProtocol, Type } from "../../../../src";
import { spawnCodeExecution } from "../../../../src/tools/code/code-execution";
import { processes, residentBytes } from "../attacks/host";
import { isOffered } from "../process/kit";

const isLong = process.env["ENVOI_LONG"] !== undefined;
/** Runs between two looks, and looks after the first. */
const RUNS = { sandbox: isLong ? 1_000 : 200, process: isLong ? 200 : 15 };
const LOOKS = 5;
/** Bytes that a run may add, of which some is what the engine has not yet given back. */
const SLOPE = { sandbox: isLong ? 2_000 : 8_000, process: isLong ? 10_000 : 60_000 };

const Echo = defineProtocol("echo", { say: { payload: Type.Unknown(), reply: Type.Unknown() } });
const BODY = `const kept = Array.from({ length: 1000 }, (_, i) => ({ i, text: "x".repeat(i % 100) }))
  console.log(kept.length, new Map([[1, kept[1]]])); await tools.echo.say(kept.slice(0, 10)); progress(1); kept.slice(0, 50)`;

const residentOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** The slope of a line through points that are one apart, by least squares. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [over, under] = values.reduce(
    ([a, b], value, x) => [a + (x - middle) * (value - mean), b + (x - middle) ** 2],
    [0, 0],
  );
  return over / under;
}

describe.each(["sandbox", "process"] as const)("Runs of %s, one after the other", (isolation) => {
  test.if(isolation === "sandbox" || isOffered)(
    "leave no memory behind: not in the host, not in a process that stays",
    async () => {
      await using system = createSystem({ askTimeout: 120_000 });
      const before = processes();
      const echo = system.spawn("echo", Echo, () => ({ say: (given) => given }));
      const code = spawnCodeExecution(system, { isolation, concurrency: 1, tools: { echo } });
      const language = ["javascript", "typescript"] as const;
      const runs = async (count: number): Promise<void> => {
        for (let index = 0; index < count; index++) {
          // Sources that are unique, too, and some that fail.
          const source =
            index % 10 === 0 ? `throw ${index}` : index % 2 === 0 ? BODY : `${BODY}.length + ${index % 300}`;
          const answer = (
            await code.ask("execute", { code: source, language: language[index % 4 === 0 ? 1 : 0] })
          )._unsafeUnwrap();
          expect(answer.ok).toBe(index % 10 !== 0);
        }
      };
      const looks: { host: number; process: number }[] = [];
      for (let look = 0; look <= LOOKS + 1; look++) {
        await runs(RUNS[isolation]);
        const [pid] = processes().filter((each) => !before.includes(each));
        // The first rounds load what is loaded late.
        if (look > 1) looks.push({ host: residentBytes(), process: pid === undefined ? 0 : residentOf(pid) });
      }
      expect(slopeOf(looks.map(({ host }) => host)) / RUNS[isolation]).toBeLessThan(SLOPE[isolation]);
      // Those of the other tier end with their run.
      if (isolation === "sandbox") {
        expect(slopeOf(looks.map(({ process: own }) => own)) / RUNS[isolation]).toBeLessThan(SLOPE[isolation]);
      }
    },
    240_000,
  );
});
