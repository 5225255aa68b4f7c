import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CodeError } from "../../../../src/tools/code/code-error";
import { CodeRefusal } from "../../../../src/tools/code/code-refusal";
import { type CompileOptions, LONGEST_SOURCE, Sources } from "../../../../src/tools/code/source/sources";
import type { Program } from "../../../../src/tools/code/tier";

/** A source of a length, none like another. */
let count = 0;
const sourceOf = (length: number, unit = "1+"): string => {
  const end = `${++count}`;
  return unit.repeat((length - end.length) / unit.length) + end;
};
/** One that takes as long as may be. */
const hostile = (): string => sourceOf(LONGEST_SOURCE, "a<b>c;");

async function withSources(body: (sources: Sources) => Promise<void>, program?: string): Promise<void> {
  const sources = new Sources(program === undefined ? {} : { program });
  try {
    await body(sources);
  } finally {
    await sources.dispose();
  }
}

const good = (program: Program | CodeRefusal): Program => {
  if (program instanceof CodeRefusal) throw new Error(program.error.message);
  return program;
};
const bad = (program: Program | CodeRefusal): CodeError => {
  if (program instanceof CodeRefusal) return program.error;
  throw new Error(program.body);
};

describe("a long source", () => {
  test("is the program that it is where a short one is read", async () => {
    const codes: [string, "javascript" | "typescript", CompileOptions?][] = [
      ["function f() {\n  fail() }\nconst a = 1; f(a)", "javascript", { isSession: true }],
      ["enum A { B }\n class C { constructor(private x) { fail() } }", "typescript"],
    ];
    await withSources(async (sources) => {
      await sources.compile("1", "javascript");
      await sources.compile("1", "typescript");
      for (const [code, language, options] of codes) {
        const filler = ` /*${" ".repeat(3_000)}*/`;
        const short = good(await sources.compile(code, language, options));
        const reading = sources.compile(code + filler, language, options);
        expect(reading).toBeInstanceOf(Promise);
        const long = good(await reading);
        expect(long.body.replace(filler, "")).toBe(short.body);
        expect(long.declares).toEqual(short.declares);
        const lines = short.body.split("\n");
        for (const [index, line] of lines.entries()) {
          for (let column = 0; column <= line.length + 2; column++) {
            const place = short.place(index + 1, column);
            if (place !== undefined && place.column < 18) expect(long.place(index + 1, column)).toEqual(place);
          }
        }
        expect(sources.compile(code + filler, language, options)).toBe(long); // Known from here on.
        expect(bad(await sources.compile(`${code}\n;)${filler}`, language, options))).toEqual(
          bad(await sources.compile(`${code}\n;)`, language, options)),
        );
      }
    });
  });

  test("that is asked for twice is read once", async () => {
    await withSources(async (sources) => {
      const code = sourceOf(10_000);
      const [first, second] = await Promise.all([
        sources.compile(code, "javascript"),
        sources.compile(code, "javascript"),
      ]);
      expect(second).toBe(first);
    });
  });

  test("does not hold up the loop, however hard it is, nor the reading of shorter ones", async () => {
    await withSources(async (sources) => {
      const order: string[] = [];
      await Promise.all([
        sources.compile(sourceOf(2_001), "typescript"),
        sources.compile(sourceOf(9_000), "typescript"),
      ]); // Started.
      let isDone = false;
      let turns = 0;
      const longest = Promise.all(Array.from({ length: 4 }, () => sources.compile(hostile(), "typescript"))).then(
        (read) => {
          isDone = true;
          order.push("long");
          for (const program of read) good(program);
        },
      );
      const short = sources.compile(sourceOf(2_001), "typescript");
      void Promise.resolve(short).then(() => order.push("short"));
      for (; !isDone; turns++) await new Promise((resolve) => setTimeout(resolve, 5));
      await longest;
      expect(order).toEqual(["short", "long"]);
      // Read here, one after the other, they leave the loop 4 turns.
      expect(turns).toBeGreaterThan(20);
    });
  }, 240_000);

  test("is told to ask later where too many wait, and only then", async () => {
    await withSources(async (sources) => {
      const codes = Array.from({ length: 200 }, () => sourceOf(LONGEST_SOURCE, `'${"x".repeat(61)}';`));
      const asked = codes.map((code) => sources.compile(code, "javascript"));
      expect(await asked.at(-1)).toBeInstanceOf(CodeRefusal);
      const read = await Promise.all(asked);
      const busy = read.filter((program) => program instanceof CodeRefusal);
      for (const program of busy) expect(bad(program).kind).toBe("busy");
      expect(read.length - busy.length).toBeGreaterThanOrEqual(100);
      good(await sources.compile(codes.at(-1) ?? "", "javascript"));
    });
  }, 240_000);
});

describe("a thread that ends in the middle", () => {
  const program = join(import.meta.dir, "programs/ending-reader.ts");
  const long = (text: string): string => `${text}${" ".repeat(2_100)}${++count}`;

  test("is replaced, and what it was to read is read again", async () => {
    await withSources(async (sources) => {
      expect(good(await sources.compile(long("a"), "javascript")).body).toBe("1");
      const [once, next] = await Promise.all([
        sources.compile(long("once"), "javascript"),
        sources.compile(long("b"), "javascript"),
      ]);
      expect([good(once).body, good(next).body]).toEqual(["1", "2"]); // Both by the second thread, in their order.
    }, program);
  });

  test("over the same source twice leaves that one unavailable, and no other", async () => {
    await withSources(async (sources) => {
      for (const word of ["end", "throw"]) {
        const code = long(word);
        const [ended, next] = await Promise.all([
          sources.compile(code, "javascript"),
          sources.compile(long("b"), "javascript"),
        ]);
        expect(bad(ended).kind).toBe("unavailable");
        expect(good(next).body).toBe("1");
        const again = sources.compile(code, "javascript");
        expect(again).toBeInstanceOf(Promise); // It is read anew: another time it may be well.
        expect(bad(await again).kind).toBe("unavailable");
      }
    }, program);
  });
});

test("what is read when it is disposed of ends, as does what is asked for later", async () => {
  const sources = new Sources();
  const asked = [0, 1, 2].map(() => sources.compile(hostile(), "typescript"));
  await sources.dispose();
  for (const program of await Promise.all(asked)) expect(bad(program).kind).toBe("stopped");
  expect(bad(await sources.compile(sourceOf(5_000), "javascript")).kind).toBe("stopped");
  await sources.dispose();
});

test("the thread keeps the process alive while it reads, and no longer", async () => {
  const script = `
    import { Sources } from ${JSON.stringify(join(import.meta.dir, "../../../../src/tools/code/source/sources"))};
    const sources = new Sources();
    sources.compile("1;".repeat(10_000), "javascript").then((program) => console.log(program.body.length));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  expect(await new Response(child.stdout).text()).toBe("20009\n");
  expect(await child.exited).toBe(0);
});
