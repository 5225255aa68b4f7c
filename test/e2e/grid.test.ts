import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parseCommand, UsageError } from "../../examples/grid/command-line";
import { addCounts, countWords, textOf } from "../../examples/grid/corpus";
import { type Job, judge, type Outcome, Progress } from "../../examples/grid/job";
import { countOverNats } from "../../examples/grid/over-nats";
import { countOverWorkers } from "../../examples/grid/over-workers";
import { Store } from "../../examples/grid/protocols";
import { emptyShelf, storeOf } from "../../examples/grid/store";
import { viewOn } from "../../examples/grid/view";
import { createSystem } from "../../src/index";
import { hasNats } from "../nats/rooms";
import { refusalOf } from "./refusal";

const project = join(import.meta.dir, "../..");

/** How long a run may take, in milliseconds: processes start in it. */
const LONG = 240_000;

const jobOf = (options: Partial<Job> = {}): Job => ({
  pages: 60,
  words: 500,
  workers: 2,
  seed: 7,
  chaos: false,
  threads: false,
  say: () => undefined,
  show: () => undefined,
  signal: new AbortController().signal,
  ...options,
});

describe("the grid over workers", () => {
  test.each(["thread", "process"] as const)(
    "counts what one process counts (%s)",
    async (as) => {
      const job = jobOf({ threads: as === "thread" });
      const outcome = await countOverWorkers(job);
      expect({ ...judge(job, outcome), alone: 0 }).toEqual({ lost: 0, missing: 0, wrong: 0, isRight: true, alone: 0 });
      expect({ acknowledged: outcome.acknowledged.size, kills: outcome.kills }).toEqual({ acknowledged: 60, kills: 0 });
    },
    LONG,
  );

  test(
    "counts the same while its workers are killed: pages are sent again, with the mark, and kept once",
    async () => {
      const said: string[] = [];
      const job = jobOf({ pages: 200, chaos: true, say: (line) => void said.push(line) });
      const outcome = await countOverWorkers(job);
      expect({ ...judge(job, outcome), alone: 0 }).toEqual({ lost: 0, missing: 0, wrong: 0, isRight: true, alone: 0 });
      expect(outcome.kills).toBeGreaterThan(0);
      expect(said.filter((line) => line.startsWith("kill -9")).length).toBe(outcome.kills);
      expect(outcome.acknowledged.size).toBe(200);
      expect(outcome.shelf.unmarked).toBe(0);
    },
    LONG,
  );

  test(
    "ends before its end when it is told to, with all that was acknowledged in the store",
    async () => {
      const interrupt = new AbortController();
      const job = jobOf({ pages: 1_000_000, threads: true, show: () => interrupt.abort(), signal: interrupt.signal });
      const { shelf, acknowledged } = await countOverWorkers(job);
      expect(shelf.pages.size).toBeLessThan(job.pages);
      expect([...acknowledged].filter((page) => !shelf.pages.has(page))).toEqual([]);
    },
    LONG,
  );
});

describe.skipIf(!hasNats)("the grid over machines", () => {
  test(
    "counts the same while whole machines are killed: their pages come again, with the mark, and are kept once",
    async () => {
      const said: string[] = [];
      const options = { pages: 120, workers: 1, threads: true, chaos: true };
      const job = jobOf({ ...options, say: (line) => void said.push(line) });
      const outcome = await countOverNats(job);
      expect({ ...judge(job, outcome), alone: 0 }).toEqual({ lost: 0, missing: 0, wrong: 0, isRight: true, alone: 0 });
      expect(outcome.kills).toBeGreaterThan(0);
      expect(said.filter((line) => line.startsWith("kill -9")).length).toBe(outcome.kills);
      expect(outcome.acknowledged.size).toBe(120);
      expect(outcome.shelf.marked).toBeGreaterThan(0);
    },
    LONG,
  );

  test(
    "is found wrong with a store that adds a page again which a killed machine had",
    async () => {
      const addsAll: typeof storeOf = (shelf, onKept) => (ctx) => ({
        keep({ page, words }) {
          shelf.pages.add(page);
          addCounts(shelf.totals, words);
          onKept(String(ctx.metadata?.["envoi.node"]));
        },
      });
      const job = jobOf({ pages: 120, workers: 1, threads: true, chaos: true });
      const machine = new URL("../../examples/grid/machine.ts", import.meta.url);
      const outcome = await countOverNats(job, { store: addsAll, machine });
      const verdict = judge(job, outcome);
      expect(verdict).toMatchObject({ lost: 0, missing: 0, isRight: false });
      expect(verdict.wrong).toBeGreaterThan(0);
    },
    LONG,
  );
});

test("the work of the grid is given up when no page comes any more, and what is missing is told", async () => {
  const said: string[] = [];
  const job = jobOf({ say: (line) => void said.push(line) });
  const progress = new Progress(job, () => false, 1);
  progress.shelf.pages.add(0);
  await progress.done.promise;
  expect(said).toEqual(["No page came for 0.001 s: the work is given up."]);
  const { shelf, kills, shares, seconds } = progress;
  expect(judge(job, { shelf, acknowledged: new Set([0, 1]), sentAgain: 0, kills, shares, seconds })).toMatchObject({
    lost: 1,
    missing: 59,
    isRight: false,
  });
});

describe("the view of the grid", () => {
  const shownOn = (isTerminal: boolean): string => {
    let text = "";
    const write = (part: string): boolean => {
      text += part;
      return true;
    };
    const view = viewOn({ columns: 12, write }, isTerminal);
    view.show("1 of 2 pages");
    view.say("kill -9");
    view.show("2 of 2");
    view.end();
    return text;
  };

  test("prints line by line where there is no terminal, without control codes", () => {
    expect(shownOn(false)).toBe("1 of 2 pages\nkill -9\n2 of 2\n");
  });

  test("keeps one live line at the bottom of a terminal, cut to its width, and takes it away at the end", () => {
    const clear = "\r\x1b[K";
    const first = `${clear}1 of 2 page`;
    expect(shownOn(true)).toBe(`${first}${clear}kill -9\n${first}${clear}2 of 2${clear}`);
  });
});

describe("the judge of the grid", () => {
  /** The outcome of a run without faults, made here. */
  function rightOutcome({ pages, seed, words }: Job): Outcome {
    const shelf = emptyShelf();
    for (let page = 0; page < pages; page++) {
      shelf.pages.add(page);
      addCounts(shelf.totals, countWords(textOf(seed, page, words)));
    }
    const acknowledged = new Set(shelf.pages);
    return { shelf, acknowledged, sentAgain: 0, kills: 0, shares: new Map(), seconds: 1 };
  }
  const job = jobOf({ pages: 10 });

  test("takes what is right", () => expect(judge(job, rightOutcome(job)).isRight).toBe(true));

  test("finds an acknowledged page that the store does not have", () => {
    const outcome = rightOutcome(job);
    outcome.shelf.pages.delete(3);
    expect(judge(job, outcome)).toMatchObject({ lost: 1, missing: 1, isRight: false });
  });

  test("finds a page that was added twice, and a repeat that was not marked", () => {
    const twice = rightOutcome(job);
    addCounts(twice.shelf.totals, countWords(textOf(job.seed, 3, job.words)));
    expect(judge(job, twice)).toMatchObject({ lost: 0, missing: 0, isRight: false });
    expect(judge(job, twice).wrong).toBeGreaterThan(0);
    const unmarked = rightOutcome(job);
    unmarked.shelf.unmarked = 1;
    expect(judge(job, unmarked).isRight).toBe(false);
  });
});

test("the store of the grid keeps a page once, and tells a marked repeat from one without the mark", async () => {
  await using system = createSystem();
  const shelf = emptyShelf();
  const kept: number[] = [];
  const store = system.spawn(
    "store",
    Store,
    storeOf(shelf, () => void kept.push(shelf.pages.size)),
  );
  const words: [string, number][] = [["baba", 2]];
  for (const mayRepeat of [false, true, true, false]) {
    expect((await store.ask("keep", { page: 1, words, mayRepeat })).isOk()).toBe(true);
  }
  expect({ kept, totals: [...shelf.totals], marked: shelf.marked, unmarked: shelf.unmarked }).toEqual({
    kept: [1],
    totals: [["baba", 2]],
    marked: 2,
    unmarked: 1,
  });
});

test(
  "bun run demo:grid prints how fast it is, and that the result is right",
  async () => {
    const child = Bun.spawn([process.execPath, "run", "demo:grid", "--pages", "20", "--workers=1", "--seed", "3"], {
      cwd: project,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, exitCode] = await Promise.all([child.stdout.text(), child.exited]);
    expect({ exitCode, isRight: stdout.endsWith("The result is right.\n") }).toEqual({ exitCode: 0, isRight: true });
    expect(stdout).toContain("20 pages in");
  },
  LONG,
);

test("a wrong command line of the grid gets one sentence", () => {
  const wrong: [string[], string][] = [
    [["--colour"], 'There is no option "--colour"'],
    [["--chaos=yes"], 'There is no option "--chaos=yes"'],
    [["--pages", "9"], "--pages needs a whole number from 10"],
    [["--workers"], "--workers needs a whole number"],
    [["--chaos", "--threads"], "A thread cannot be killed"],
  ];
  for (const [words, sentence] of wrong) {
    expect(refusalOf(() => parseCommand(words), UsageError)).toContain(sentence);
  }
  expect(parseCommand(["--help"])).toBeUndefined();
  expect(parseCommand(["--chaos"])).toMatchObject({ chaos: true, nats: false, workers: 4, pages: 800 });
  expect(parseCommand(["--nats", "--chaos", "--threads"])).toMatchObject({ nats: true, threads: true, workers: 2 });
});
