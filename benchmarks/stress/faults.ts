/** Faults under load. This process plans and judges them; the one under load opens this module too, and has them happen. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { address, createSystem, defineProtocol, type Overflow, type System, Type } from "envoi";
import { createRandom } from "envoi/testing";
import { spawnCodeExecution, spawnFileSystem } from "envoi/tools";
import { descendants } from "../harness/processes";
import type { Mix } from "./generator";
import { startLoad } from "./load";
import type { Trouble, Window } from "./results";
import { type Open, type Operation, outcomeOf } from "./subject";
import { errorsOf, trouble } from "./trouble";

export interface FaultPlan {
  readonly name: string;
  readonly about: string;
  readonly rate: number;
  /** `ask` in it is of an actor that has nothing to do with the fault. */
  readonly mix: Mix;
  readonly allowed: readonly string[];
  /** Makes, in the process under load, the operations that it happens to, and tells counts that must be equal in the end. */
  readonly make: (fault: Fault) => {
    readonly operations: Readonly<Record<string, Operation>>;
    readonly equal?: () => Readonly<Record<string, readonly [number, number]>>;
  };
}

interface Fault {
  readonly system: System;
  readonly folder: string;
  readonly happened: Record<string, number>;
  isOn: boolean;
}

const every = (fault: Fault, milliseconds: number, work: () => void) =>
  setInterval(() => fault.isOn && work(), milliseconds);

const asked = { timeout: 1_000 }; // Milliseconds.
const Say = defineProtocol("say", { say: { payload: Type.Number(), reply: Type.Number() } });
type Bound = { readonly capacity?: number; readonly overflow?: Overflow };

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
  make(fault) {
    const { system, happened } = fault;
    const actor = spawnCodeExecution(system, { concurrency: 2 });
    const random = createRandom(1);
    const counts = Object.assign(happened, { "processes killed": 0 });
    every(fault, 200, () => {
      const pool = descendants(process.pid);
      if (pool.length === 0) return; // The next ones are being started.
      process.kill(random.pick(pool), "SIGKILL");
      counts["processes killed"]++;
    });
    const code: Operation = async (number) => {
      const answer = await actor.ask("execute", { code: CODE, input: number }, asked);
      if (answer.isOk() && !answer.value.ok) return answer.value.error.kind;
      return outcomeOf(answer, number, (reply) => reply.ok && reply.value.value === number + 39_999);
    };
    return { operations: { code } };
  },
};

const crashes: FaultPlan = {
  name: "actors that crash",
  about: "One message in a hundred, by chance, makes its actor throw, which then begins anew.",
  rate: 2_000,
  mix: { frail: 3, ask: 1 },
  allowed: ["frail handler-failed"],
  make(fault) {
    const { system, happened } = fault;
    const random = createRandom(1);
    const counts = Object.assign(happened, { crashes: 0, restarts: 0 });
    system.events.subscribe(({ kind }) => void (kind === "restarted" && counts.restarts++));
    const frail = spawnSay(system, "frail", async (number) => {
      if (!fault.isOn || !random.chance(0.01)) return number;
      counts.crashes++;
      throw new Error("as it should");
    });
    const equal = () => ({
      "crashes, and restarts": [counts.crashes, counts.restarts] as const,
      "crashes, and failures by the audit": [counts.crashes, system.router.audit().failed] as const,
    });
    return { operations: { frail }, equal };
  },
};

const slowDisk: FaultPlan = {
  name: "a slow disk, and mailboxes full",
  about:
    "A write takes 20 ms. Three actors, each with room for 20 messages and asked 100 times a second, write a file for each: one refuses what it cannot hold, one drops the oldest, and one lets its askers wait.",
  rate: 400,
  mix: { reject: 1, "drop-oldest": 1, wait: 1, ask: 1 },
  allowed: ["reject mailbox-full", "drop-oldest mailbox-full", "wait mailbox-full", "wait timeout"],
  make(fault) {
    const { system, folder, happened } = fault;
    const capacity = 20;
    const root = join(folder, "files");
    mkdirSync(root);
    const files = spawnFileSystem(system, { root });
    const counts = Object.assign(happened, { "most that waited": 0 });
    const write = async (number: number) => {
      if (fault.isOn) await Bun.sleep(20);
      const payload = { path: `file-${number % 16}.txt`, content: String(number), inPlace: true };
      const answer = await files.ask("write", payload, asked);
      return answer.isOk() && answer.value.ok ? number : -1;
    };
    const spawn = (overflow: Overflow) => spawnSay(system, overflow, write, { capacity, overflow });
    const look = () => {
      // An actor that lets its askers wait counts them too.
      const queues = system.inspect().map(({ address: of, queued }) => (of === address("wait") ? 0 : queued));
      counts["most that waited"] = Math.max(counts["most that waited"], ...queues);
    };
    every(fault, 1, look);
    system.router.deadLetters.subscribe(look); // On a busy machine, the timer is late for the moment at which a mailbox is full.
    const operations = { reject: spawn("reject"), "drop-oldest": spawn("drop-oldest"), wait: spawn("wait") };
    return { operations, equal: () => ({ "most that waited, and room": [counts["most that waited"], capacity] }) };
  },
};

export const FAULTS: readonly FaultPlan[] = [kills, crashes, slowDisk];

/** A system in which a fault happens, and an actor that has nothing to do with it. @param name The name of the fault. */
export const open: Open = (name, folder) => {
  const plan = FAULTS.find((each) => each.name === name);
  if (plan === undefined) throw new Error(`There is no fault ${name}.`);
  const happened = { "dead letters": 0, "lines logged": 0 };
  const log = () => void happened["lines logged"]++;
  const system = createSystem({ logger: { warn: log, error: log }, supervision: { limit: Number.POSITIVE_INFINITY } });
  system.router.deadLetters.subscribe(() => void happened["dead letters"]++);
  const fault: Fault = { system, folder, happened, isOn: false };
  const { operations, equal } = plan.make(fault);
  const commands = {
    begin: () => (fault.isOn = true),
    end: () => (fault.isOn = false),
    told(): Pick<Trouble, "happened" | "failed"> {
      const dead = [happened["dead letters"], system.router.audit().dead] as const;
      const counts = Object.entries({ ...equal?.(), "dead letters, and those by the audit": dead });
      const differ = counts.filter(([, [one, other]]) => one !== other);
      return { happened, failed: differ.map(([what, both]) => `${what}: ${both.join(" and ")}.`) };
    },
  };
  return { operations: { ...operations, ask: spawnSay(system, "bystander") }, commands, system };
};

export async function measureFault(plan: FaultPlan, window: number, signal: AbortSignal): Promise<Trouble> {
  const { name, about, rate, mix, allowed } = plan;
  // A request is given up later than any ask times out.
  await using load = await startLoad({ subject: new URL(import.meta.url), name, patience: 5_000, signal });
  load.change(rate, mix);
  await Bun.sleep(500);
  const told = async (during: readonly Window[]) => {
    const { happened, failed } = await load.call<Pick<Trouble, "happened" | "failed">>("told");
    const errors = during.flatMap(errorsOf).filter(([kind]) => !allowed.includes(kind));
    return { happened, failed: [...failed, ...errors.map(([kind, times]) => `${times} × ${kind}.`)] };
  };
  const [begin, end] = [() => load.call("begin"), () => load.call("end")];
  return await trouble(load, { name, about, window, told, begin, end });
}
