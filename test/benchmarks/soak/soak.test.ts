import { describe, expect, test } from "bun:test";
import { canSeeProcesses, descendants } from "../../../benchmarks/harness/processes";
import { growsSurely, soak } from "../../../benchmarks/soak/soak";

const load = (name: string, settling: number) => ({ module: new URL(`${name}.ts`, import.meta.url), settling });

/** Soaks for so many seconds, or until something was told. */
async function run(seconds: number, name: string, { endsAtOnce = false, settling = 0 } = {}) {
  const ending = new AbortController();
  let out = "";
  let err = "";
  const around = {
    out(text: string) {
      out += text;
      if (endsAtOnce) ending.abort();
    },
    err(text: string) {
      err += text;
    },
    signal: ending.signal,
  };
  return { status: await soak(seconds / 60, around, load(name, settling)), out, err };
}

/** Two soaks of four seconds each; the trends that they judge by are tested beside. */
const inLong = test.if(process.env["ENVOI_LONG"] !== undefined);

describe("a soak", () => {
  inLong("of an actor that keeps something of each message ends with status 1, and says what leaks", async () => {
    const { status, out, err } = await run(4, "leaking");
    expect({ status, err }).toEqual({ status: 1, err: "" });
    expect(out).toMatch(/^ {2}heap: .* at the end: it leaks$/m);
  });

  inLong("of one that keeps nothing finds no leak of its heap", async () => {
    const { out, err } = await run(4, "steady");
    expect(err).toBe("");
    expect(out).toMatch(/^ {2}heap: .* at the end: no leak$/m);
  });

  test("that ends before its load has settled finds none, says that it cannot, and ends with status 3", async () => {
    const { status, out, err } = await run(1, "leaking", { settling: 2 });
    expect({ status, err }).toEqual({
      status: 3,
      err: "It ended too early to tell whether memory grows: 3 minutes tell.\n",
    });
    expect(out).not.toContain("it leaks");
  });

  test("whose work goes wrong ends with status 1, in the words of that", async () => {
    const { status, err } = await run(4, "wrong");
    expect(status).toBe(1);
    expect(err).toContain("a reply was 4, not 5");
  });

  test("of no time is refused", async () => {
    for (const seconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const { status, err } = await run(seconds, "steady");
      expect(status).toBe(2);
      expect(err).toContain("such as --soak 30");
    }
  });

  test("that is ended says what it has seen, and leaves no process", async () => {
    const before = canSeeProcesses ? descendants(process.pid) : [];
    const { status, out, err } = await run(60, "steady", { endsAtOnce: true });
    expect({ status, err }).toEqual({
      status: 130,
      err: "It ended too early to tell whether memory grows: 3 minutes tell.\n",
    });
    expect(out).toMatch(/^ +0 min +[1-9][0-9,]* operations +heap /);
    if (canSeeProcesses) expect(descendants(process.pid)).toEqual(before);
  });
});

describe("what a soak calls a leak", () => {
  const points = [0, 10, 20, 30].map((minute) => [minute, 10e6] as const);

  test("is what surely grows by more than a hundredth in the second half", () => {
    expect(growsSurely(4_000, points)).toBe(true);
    expect(growsSurely(3_000, points)).toBe(false);
  });

  test("is nothing that may as well not grow", () => {
    expect(growsSurely(0, points)).toBe(false);
    expect(growsSurely(-4_000, points)).toBe(false);
    expect(growsSurely(0, [[0, 0]])).toBe(false);
  });
});
