import { expect, test } from "bun:test";
import { join } from "node:path";
import { array, assert, asyncProperty, constantFrom } from "fast-check";
import { cellOf } from "../../src/actor/cell/cell";
import {
  type ActorOptions,
  type AnyRef,
  type Clock,
  type Context,
  createSystem,
  defineProtocol,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";

// The table of life and activity in src/actor/cell/transitions.ts is what actors do.

const LIVES = ["alive", "guarded", "draining", "restarting", "stopping", "stopped"];
const ACTIVITIES = ["suspended", "idle", "ready", "handling", "awaiting"];

const table = async (): Promise<Map<string, string>> => {
  const text = await Bun.file(join(import.meta.dir, "../../src/actor/cell/transitions.ts")).text();
  const rows = [...text.matchAll(/^ \* \| (.*) \|$/gm)].map(([, row = ""]) =>
    row.split("|").map((each) => each.trim()),
  );
  const [head = [], , ...lives] = rows;
  expect(lives.map(([life]) => life)).toEqual(LIVES);
  return new Map(lives.flatMap(([life, ...does]) => does.map((what, i) => [`${life} ${head[i + 1]}`, what] as const)));
};

const Worker = defineProtocol("worker", {
  work: { payload: Type.Number() },
  wait: { payload: Type.Number() },
  fail: { payload: Type.Number() },
  stash: { payload: Type.Number() },
  become: { payload: Type.Number() },
});

const COMMANDS = ["work", "wait", "fail", "stash", "become", "stop", "drain", "pause", "tick", "hold"] as const;

/** Does what is told to an actor with a child and hooks that wait; gives each pair of a life and an activity that was seen. */
async function statesIn(commands: readonly (typeof COMMANDS)[number][], options: ActorOptions): Promise<Set<string>> {
  const seen = new Set<string>();
  const refs: AnyRef[] = [];
  const look = (): void => {
    for (const ref of refs) seen.add(`${LIVES[cellOf(ref).life]} ${ACTIVITIES[cellOf(ref).activity]}`);
  };
  const manual = createManualClock();
  let due: (() => void)[] = [];
  const clock: Clock = {
    ...manual,
    macrotask: (callback) => void due.push(callback),
    microtask: (callback) =>
      manual.microtask(() => {
        look();
        callback();
        look();
      }),
  };
  /** One turn of the event loop: its microtasks, the macrotasks that are due then, and the microtasks of these. */
  const turn = async (): Promise<void> => {
    await manual.settle();
    const now = due;
    due = [];
    for (const callback of now) callback();
    await manual.settle();
  };
  const pause = async (): Promise<void> => {
    look();
    await new Promise<void>((goOn) => clock.macrotask(goOn));
    look();
  };
  const logger = { warn() {}, error() {} };
  const system = createSystem({ clock, logger, supervision: { limit: 1, backoff: { initial: 1 } } });
  const make = (ctx: Context<unknown>) => {
    if (!refs.includes(ctx.self)) refs.push(ctx.self);
    look();
    return {
      onStart: pause,
      onStop: pause,
      work: look,
      wait: pause,
      fail() {
        look();
        throw new Error("as it was told to");
      },
      stash: () => ctx.stash() as unknown as undefined,
      become() {
        ctx.unstash();
        look();
      },
    };
  };
  const ref = system.spawn(
    "parent",
    Worker,
    (ctx) => {
      refs.push(ctx.spawn("child", Worker, make));
      return make(ctx);
    },
    options,
  );
  refs.push(ref);
  for (const command of commands) {
    look();
    if (command === "pause") await turn();
    else if (command === "tick") {
      await turn();
      await manual.advance(1);
    } else if (command === "hold") for (let i = 0; i < 3; i++) ref.tell("fail", i);
    else if (command === "stop" || command === "drain") void system.stop(ref, { drain: command === "drain" });
    else ref.tell(command, 1);
    look();
  }
  let isOver = false;
  const report = system.shutdown({ drain: true, timeout: 50 }).then(() => {
    isOver = true;
  });
  while (!isOver) {
    await turn();
    await manual.advance(1);
  }
  await report;
  look();
  return seen;
}

test("actors are in no state but those of the table, and in each of them at some time", async () => {
  const does = await table();
  const seen = new Set<string>();
  await assert(
    asyncProperty(
      array(constantFrom(...COMMANDS), { maxLength: 12 }),
      constantFrom({}, { capacity: 100 }, { concurrency: 2 }),
      async (commands, options) => {
        for (const state of await statesIn(commands, options)) {
          seen.add(state);
          expect({ state, does: does.get(state) }).toEqual({ state, does: expect.stringMatching(/^[^–]/) });
        }
      },
    ),
    { numRuns: 200, seed: 1 },
  );
  expect([...does].filter(([state, what]) => what !== "–" && !seen.has(state)).map(([state]) => state)).toEqual([]);
});

test("an actor's life and what it does are assigned in one file", async () => {
  const root = join(import.meta.dir, "../../src");
  const assigned =
    /\.(?:life|activity|ending|aliveAs|generation|isUnstarted|isDraining|hook|restart)(?:\+\+| \??[-+?|&]*= )/;
  const found: string[] = [];
  for await (const path of new Bun.Glob("{actor,router}/**/*.ts").scan(root)) {
    const code = (await Bun.file(join(root, path)).text()).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    if (!path.startsWith("actor/envelopes/") && assigned.test(code)) found.push(path); // A signal has a hook of its own.
  }
  expect(found).toEqual(["actor/cell/transitions.ts"]);
});
