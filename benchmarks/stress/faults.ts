/** Faults under load. This process plans and judges them; the one under load opens this module too, and has them happen. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { address, createMessage, createSystem, defineProtocol, type Overflow, type System, Type } from "envoi";
import { createRandom } from "envoi/testing";
import { spawnCodeExecution, spawnFileSystem } from "envoi/tools";
import { descendants } from "../harness/processes";
import type { Mix } from "./generator";
import { Load } from "./load";
import type { Fault, Window } from "./results";
import { type Open, type Operation, outcomeOf } from "./subject";
import { trouble } from "./trouble";

/** Something that goes wrong under load. */
export interface FaultPlan {
  readonly name: string;
  /** A sentence: what happens. */
  readonly about: string;
  /** Requests a second. */
  readonly rate: number;
  /** `ask` in it is of an actor that has nothing to do with the fault. */
  readonly mix: Mix;
  /** The errors that may come of it, by operation and kind. */
  readonly allowed: readonly string[];
  /** Makes, in the process under load, the operations that it happens to. */
  readonly make: (place: Place) => Readonly<Record<string, Operation>>;
}

/** What a fault is made with. */
interface Place {
  readonly system: System;
  /** An empty one. */
  readonly folder: string;
  /** How often what has happened. */
  readonly happened: Record<string, number>;
  readonly isOn: () => boolean;
  /** Does some work every so many milliseconds while the fault is on. */
  readonly every: (milliseconds: number, work: () => void) => void;
  /** Counts that must be equal in the end. */
  readonly mustEqual: (what: string, one: () => number, other: () => number) => void;
}

/** A client gives up as soon, in milliseconds. */
const asked = { timeout: 1_000 };
const Say = defineProtocol("say", { say: { payload: Type.Number(), reply: Type.Number() } });
type Bound = { readonly capacity?: number; readonly overflow?: Overflow };

/** An actor that gives numbers back, by default at once; and the operation that asks it. */
function spawnSay(system: System, name: string, say = async (number: number) => number, bound: Bound = {}): Operation {
  const actor = system.spawn(name, Say, () => ({ say }), bound);
  return async (number) => outcomeOf(await actor.ask("say", number, asked), number, (value) => value === number);
}

/** Goes on for some milliseconds, so that a kill finds a run at work now and then; an odd one says something before. */
const CODE = `if (input % 2 === 1) console.log(input);
let sum = input;
for (let i = 0; i < 40_000; i++) sum += i % 3;
sum`;

const kills: FaultPlan = {
  name: "processes killed",
  about:
    "Every 200 ms one of the processes that run code, by chance, is killed (SIGKILL). A run that it had said nothing of runs elsewhere; one that had logged something is lost, which its asker is told.",
  rate: 100,
  mix: { code: 1, ask: 1 },
  allowed: ["code crashed", "code unavailable", "code timeout"],
  make({ system, happened, every }) {
    const actor = spawnCodeExecution(system, { concurrency: 2 });
    const random = createRandom(1);
    const counts = Object.assign(happened, { "processes killed": 0, "runs lost": 0 });
    every(200, () => {
      const pool = descendants(process.pid);
      if (pool.length === 0) return; // The next ones are being started.
      process.kill(random.pick(pool), "SIGKILL");
      counts["processes killed"]++;
    });
    return {
      async code(number) {
        const answer = await actor.ask("execute", { code: CODE, input: number }, asked);
        if (answer.isErr() || answer.value.ok) {
          return outcomeOf(answer, number, (reply) => reply.ok && reply.value.value === number + 39_999);
        }
        counts["runs lost"]++;
        return answer.value.error.kind;
      },
    };
  },
};

const crashes: FaultPlan = {
  name: "actors that crash",
  about: "One message in a hundred, by chance, makes its actor throw, which then begins anew.",
  rate: 2_000,
  mix: { frail: 3, ask: 1 },
  allowed: ["frail handler-failed"],
  make({ system, happened, isOn, mustEqual }) {
    const random = createRandom(1);
    const counts = Object.assign(happened, { crashes: 0, restarts: 0 });
    let told = 0;
    system.events.subscribe(({ kind }) => {
      if (kind === "restarted") counts.restarts++;
    });
    const frail = spawnSay(system, "frail", async (number) => {
      if (!isOn() || !random.chance(0.01)) return number;
      counts.crashes++;
      throw new Error("as it should");
    });
    mustEqual(
      "crashes, and those that were told to the asker",
      () => counts.crashes,
      () => told,
    );
    mustEqual(
      "crashes, and restarts",
      () => counts.crashes,
      () => counts.restarts,
    );
    mustEqual(
      "crashes, and failures by the audit",
      () => counts.crashes,
      () => system.router.audit().failed,
    );
    return {
      async frail(number) {
        const outcome = await frail(number);
        if (outcome === "handler-failed") told++;
        return outcome;
      },
    };
  },
};

const slowDisk: FaultPlan = {
  name: "a slow disk",
  about:
    "Each write takes 50 ms, so that a fifth of them can be done in time; 40 may wait, and a client waits for a second.",
  rate: 200,
  mix: { write: 1, ask: 1 },
  allowed: ["write mailbox-full", "write timeout"],
  make({ system, folder, happened, isOn }) {
    const root = join(folder, "files");
    mkdirSync(root);
    const files = spawnFileSystem(system, { root });
    const counts = Object.assign(happened, { "slow writes": 0 });
    const write = async (number: number) => {
      if (isOn()) {
        counts["slow writes"]++;
        await Bun.sleep(50);
      }
      const payload = { path: `file-${number % 16}.txt`, content: String(number), inPlace: true };
      const answer = await files.ask("write", payload, asked);
      return answer.isOk() && answer.value.ok ? number : -1;
    };
    return { write: spawnSay(system, "disk", write, { capacity: 40 }) };
  },
};

const fullMailboxes: FaultPlan = {
  name: "mailboxes full",
  about:
    "Three actors, each with room for 20 messages and asked 200 times a second, take 20 ms for each: one refuses what it cannot hold, one drops the oldest, and one lets its askers wait.",
  rate: 800,
  mix: { reject: 1, "drop-oldest": 1, wait: 1, ask: 1 },
  allowed: ["reject mailbox-full", "drop-oldest mailbox-full", "wait mailbox-full", "wait timeout"],
  make({ system, happened, isOn, every, mustEqual }) {
    const capacity = 20;
    const counts = Object.assign(happened, { "slow messages": 0, "messages in the fullest mailbox": 0 });
    const say = async (number: number) => {
      if (!isOn()) return number;
      counts["slow messages"]++;
      await Bun.sleep(20);
      return number;
    };
    every(1, () => {
      // An actor that lets its askers wait counts them too.
      const queues = system.inspect().map(({ address: of, queued }) => (of === address("wait") ? 0 : queued));
      counts["messages in the fullest mailbox"] = Math.max(counts["messages in the fullest mailbox"], ...queues);
    });
    mustEqual(
      "messages in the fullest mailbox",
      () => counts["messages in the fullest mailbox"],
      () => capacity,
    );
    const spawn = (overflow: Overflow) => spawnSay(system, overflow, say, { capacity, overflow });
    return { reject: spawn("reject"), "drop-oldest": spawn("drop-oldest"), wait: spawn("wait") };
  },
};

const deadLetters: FaultPlan = {
  name: "a flood of dead letters",
  about: "50,000 messages a second are sent to an address that nobody has.",
  rate: 1_000,
  mix: { ask: 1 },
  allowed: [],
  make({ system: { router }, happened, every, mustEqual }) {
    const began = performance.now();
    let sent = 0;
    every(5, () => {
      for (let i = 0; i < 250; i++) router.tell(createMessage(address("nobody"), "say", sent++));
    });
    mustEqual(
      "messages to nobody, and dead letters",
      () => sent,
      () => happened["dead letters"] ?? 0,
    );
    const lines = () => happened["lines logged"] ?? 0;
    const most = () => 11 * Math.ceil((performance.now() - began) / 1_000); // Ten a second, and how many more there were.
    mustEqual("lines logged, and no more than eleven a second", lines, () => Math.min(lines(), most()));
    return {};
  },
};

export const FAULTS: readonly FaultPlan[] = [kills, crashes, slowDisk, fullMailboxes, deadLetters];

/** What the process under load tells of its fault at rest. */
interface Told {
  readonly happened: Readonly<Record<string, number>>;
  readonly failed: readonly string[];
}

/** A system in which a fault happens, and an actor that has nothing to do with it. @param name The name of the fault. */
export const open: Open = (name, folder) => {
  const plan = FAULTS.find((each) => each.name === name);
  if (plan === undefined) throw new Error(`There is no fault ${name}.`);
  const happened = { "dead letters": 0, "lines logged": 0 };
  const log = () => {
    happened["lines logged"]++;
  };
  const system = createSystem({ logger: { warn: log, error: log }, supervision: { limit: Number.POSITIVE_INFINITY } });
  system.router.deadLetters.subscribe(() => {
    happened["dead letters"]++;
  });
  const works: Parameters<Place["every"]>[] = [];
  const counts: Parameters<Place["mustEqual"]>[] = [
    ["dead letters by the audit, and those that were published", () => audit().dead, () => happened["dead letters"]],
  ];
  let timers: Timer[] | undefined;
  const every: Place["every"] = (...work) => void works.push(work);
  const mustEqual: Place["mustEqual"] = (...both) => void counts.push(both);
  const operations = plan.make({ system, folder, happened, isOn: () => timers !== undefined, every, mustEqual });
  const audit = () => system.router.audit();
  const commands = {
    begin() {
      timers = works.map(([milliseconds, work]) => setInterval(work, milliseconds));
    },
    end() {
      for (const timer of timers ?? []) clearInterval(timer);
      timers = undefined;
    },
    told(): Told {
      const found = counts.map(([what, one, other]) => ({ what, both: [one(), other()] }));
      const failed = found.flatMap(({ what, both }) =>
        both[0] === both[1] ? [] : [`${what}: ${both.join(" and ")}.`],
      );
      return { happened, failed };
    },
  };
  return {
    operations: { ...operations, ask: spawnSay(system, "bystander") },
    commands,
    audit,
    close: () => system.shutdown(),
  };
};

/** A request without an answer is given up then, in milliseconds: later than any ask times out. */
const PATIENCE = 5_000;

/** Has a fault happen under load for one window of so many milliseconds. */
export async function measureFault(plan: FaultPlan, window: number, signal: AbortSignal): Promise<Fault> {
  const { name, about, rate, mix } = plan;
  await using load = await Load.start({ subject: new URL(import.meta.url), name, patience: PATIENCE, signal });
  load.change(rate, mix);
  await Bun.sleep(500);
  const {
    heap: _,
    failed,
    ...found
  } = await trouble(load, {
    window,
    windows: 1,
    begin: () => load.call("begin"),
    end: () => load.call("end"),
  });
  const told = await load.call<Told>("told");
  const all = [...failed, ...told.failed, ...unexpected(plan, found.during, told.happened)];
  return { name, about, happened: told.happened, ...found, failed: all };
}

/** What came of a fault and may not, or that nothing did. */
export function unexpected(plan: FaultPlan, during: readonly Window[], happened: Fault["happened"]): string[] {
  const errors = during.flatMap((window) => Object.entries(window.errors));
  const failed = errors.flatMap(([kind, times]) => (plan.allowed.includes(kind) ? [] : [`${times} × ${kind}.`]));
  if (Object.values(happened).every((times) => times === 0)) failed.push("Nothing went wrong, so this was no fault.");
  return failed;
}
