import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createSystem, defineProtocol, type System, Type } from "../../../../src";
import type { CodeError } from "../../../../src/tools/code/code-error";
import { spawnCodeExecution } from "../../../../src/tools/code/code-execution";
import type { CodeExecutionOptions } from "../../../../src/tools/code/options";
import type { CodeExecutionRef, ExecuteRequest } from "../../../../src/tools/code/protocol";
import { isOffered } from "../process/kit";
import { errorIn, type Outcome, valueIn, ways } from "../tiers";
import { Host, Pulse } from "./host";
import { Loot, SECRET } from "./loot";

export type Wall = "sandbox" | "process";
export type Language = "javascript" | "typescript";

/** Each tier that claims to hold code, in each language. */
export const walls = ways.flatMap(({ isolation, isIsolated, language }) =>
  isIsolated && (isolation !== "process" || isOffered) ? [{ isolation: isolation as Wall, language }] : [],
);

/**
 * Milliseconds that a run has which is to end by itself: on a machine that others keep busy, 1 s of a processor took 10. A
 * run that does not end still fails its test, which expects another end than `timeout`, or gives a time of its own.
 */
const PATIENCE = 100_000;
/** Milliseconds that an ask waits, which are those of a run and of all runs before it. */
const ASKED_IN = 600_000;
const REPOSITORY = join(import.meta.dir, "../../../..");

const Desk = defineProtocol("desk", {
  echo: { payload: Type.Unknown(), reply: Type.Unknown() },
  fail: { payload: Type.Unknown(), reply: Type.Null() },
  never: { reply: Type.Null() },
  letters: { payload: Type.String(), stream: Type.String() },
  /** The kernel's view of a process while the process waits for this call. */
  look: { payload: Type.Integer(), reply: Type.Object({ links: Type.Array(Type.String()), status: Type.String() }) },
  secret: { payload: Type.Unknown(), reply: Type.String() },
});

/** An actor under attack, in one tier and one language. It has a tool with an operation that is not granted. */
export interface Arena {
  readonly isolation: Wall;
  readonly language: Language;
  readonly code: CodeExecutionRef;
  readonly loot: Loot;
  /** The payloads that the tool was asked with, the secret included. */
  readonly asked: unknown[];
  /** Runs the body of a function of `input` and `tools`, which is written in that language. */
  run(body: string, more?: Partial<ExecuteRequest>): Promise<Outcome>;
  /** Runs a source as it is. */
  execute(source: string, more?: Partial<ExecuteRequest>): Promise<Outcome>;
}

/** The body of a function, with what TypeScript has around it: some of it is taken out, some becomes code. */
function typed(body: string): string {
  return `enum Wall { None, Some = 2 }
interface Taken<Value> { readonly value: Value; readonly wall?: string }
declare const ambient: unique symbol
const attack = async <Given,>(input: Given, tools: any): Promise<unknown> => {
${body}
}
const taken = { value: await attack<any>(input as any, tools!), wall: Wall[Wall.Some] } satisfies Taken<unknown>
taken.value`;
}

/** Runs tests in each tier and language; after each the host has to be what it was, and a next run has to give its value. */
export function inEachArena(title: string, options: CodeExecutionOptions, body: (arena: Arena) => void): void {
  describe.each(walls)(`${title}: $isolation, $language`, ({ isolation, language }) => {
    const asked: unknown[] = [];
    let [system, code, loot]: [System?, CodeExecutionRef?, Loot?] = [];
    let [host, pulse]: [Host?, Pulse?] = [];
    const there = <Part>(part: Part | undefined): Part => {
      if (part === undefined) throw new Error("The arena is not open.");
      return part;
    };
    const run: Arena["run"] = (source, more) => execute(language === "typescript" ? typed(source) : source, more);
    const execute: Arena["execute"] = async (source, more = {}) => {
      const answer = await there(code).ask("execute", { code: source, language, ...more });
      if (answer.isErr()) throw new Error(answer.error.message);
      expectDiscreet(answer.value);
      return answer.value;
    };
    const next = async () => {
      expect(valueIn(await run("return [input, 6 * 7]", { input: "next" }))).toEqual(["next", 42]);
    };

    beforeAll(async () => {
      system = createSystem({ askTimeout: ASKED_IN, logger: { warn() {}, error() {} } });
      loot = new Loot();
      const tools = { desk: { ref: spawnDesk(system, asked), operations: GRANTED } };
      pulse = new Pulse();
      await pulse.begin();
      host = new Host();
      // One process for all runs, where they share one; another that stands ready, where each has its own.
      const concurrency = isolation === "sandbox" ? 1 : 2;
      code = spawnCodeExecution(system, { isolation, concurrency, tools, timeout: PATIENCE, ...options });
      await next();
    });
    beforeEach(() => there(pulse).reset());
    afterEach(async () => {
      await next();
      there(pulse).expectSteady();
      there(host).expectUnharmed();
      expect(there(loot).visits).toBe(0);
      expect(asked.splice(0)).not.toContain(SECRET);
    });
    afterAll(async () => {
      await there(system).shutdown();
      there(pulse).end();
      there(host).expectAlone();
      there(loot).remove();
    });

    body({
      isolation,
      language,
      asked,
      get code() {
        return there(code);
      },
      get loot() {
        return there(loot);
      },
      run,
      execute,
    });
  });
}

const GRANTED = ["echo", "fail", "never", "letters", "look"];

function spawnDesk(system: System, asked: unknown[]) {
  const desk = system.spawn(
    "desk",
    Desk,
    (ctx) => ({
      echo(given) {
        asked.push(given);
        return given;
      },
      fail() {
        throw Object.assign(new Error(SECRET), { secret: SECRET });
      },
      never() {
        const { signal } = ctx;
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));
      },
      async *letters(given) {
        yield* given;
      },
      look(pid) {
        const links = readdirSync(`/proc/${pid}/fd`).map((fd) => `${fd} ${readlinkSync(`/proc/${pid}/fd/${fd}`)}`);
        return { links, status: readFileSync(`/proc/${pid}/status`, "utf8") };
      },
      secret() {
        asked.push(SECRET);
        return SECRET;
      },
    }),
    { concurrency: 1_000, supervision: { decide: () => "resume" } },
  );
  return desk;
}

/** Nothing that is told shows what only the host has. */
function expectDiscreet(outcome: unknown): void {
  const text = JSON.stringify(outcome);
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain(REPOSITORY);
}

type Kind = CodeError["kind"];
/** The expected end of an attack: a value, or an error of one of these kinds. */
export type Fate = { readonly value: unknown } | readonly Kind[];

export interface Attack {
  readonly name: string;
  /** The body of a function of `input` and `tools`. */
  readonly body: string;
  /** In each tier, or in both; it is not tried where it says nothing of a tier. */
  readonly fate: Fate | { readonly [Tier in Wall]?: Fate };
  readonly with?: Partial<ExecuteRequest>;
}

const isFate = (fate: Attack["fate"]): fate is Fate => Array.isArray(fate) || "value" in fate;

/** A table of attacks, each of which is a test. */
export function attacks(title: string, options: CodeExecutionOptions, table: readonly Attack[]): void {
  inEachArena(title, options, ({ isolation, run }) => {
    for (const { name, body, fate: given, with: more } of table) {
      const fate = isFate(given) ? given : given[isolation];
      if (fate === undefined) continue;
      test(name, async () => expectFate(await run(body, more), fate));
    }
  });
}

export function expectFate(outcome: Outcome, fate: Fate): void {
  if ("value" in fate) {
    expect(valueIn(outcome)).toEqual(fate.value);
  } else {
    const error = errorIn(outcome);
    expect(error).toMatchObject({ kind: expect.stringMatching(new RegExp(`^(${fate.join("|")})$`)) });
  }
}
