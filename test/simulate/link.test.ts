import { describe, expect, test } from "bun:test";
import {
  type AskResult,
  address,
  defineProtocol,
  type Ref,
  type SignaturesOf,
  StreamError,
  Type,
} from "../../src/index";
import { createLink, type LinkOptions, type SimulatedProgram, simulate } from "../../src/testing/index";
import { expectBalanced } from "./balanced";

/** What a message makes its handler do. */
interface Job {
  readonly id: number;
  readonly way: "at once" | "later" | "until told" | "throws" | "asks back";
  readonly pause: number;
}

const job = Type.Unsafe<Job>({});
const Server = defineProtocol("server", {
  work: { payload: job, reply: Type.Number() },
  note: { payload: job },
  count: { payload: job, stream: Type.Number() },
});
type Server = SignaturesOf<typeof Server>;
const Front = defineProtocol("front", { work: { payload: job, reply: Type.Number() }, name: { reply: Type.String() } });

const MESSAGES = 14;
const ITEMS = 12;
const SEEDS = process.env["ENVOI_LONG"] ? 5_000 : 200;

class Refusal extends Error {}

/** What became of the messages of all runs. */
type Seen = Record<string, number>;

const overLink =
  (faults: Partial<LinkOptions>, mayBreak: boolean, seen: Seen): SimulatedProgram =>
  async (simulation) => {
    const { system: a, random, always, eventually, advance, clock } = simulation;
    const b = simulation.createSystem();
    const link = createLink(a, b, { clock, random, ...faults });
    const isLossless = faults.drop === undefined && !mayBreak;
    const isInOrder = faults.reorder === undefined;
    const at = address("b/server");
    const begun = new Map<number, number>();
    const noted: number[] = [];
    const notes: number[] = [];
    const settled = new Map<number, AskResult | "taken">();
    let far: Ref<Server>;
    let sent = 0;

    always(() => {
      for (const system of [a, b]) expectBalanced(system); // P1, at both ends.
      for (const times of begun.values()) expect(times).toBe(1); // P17: at most once.
    });

    const front = a.spawn("front", Front, (ctx) => ({
      work: async (each) => {
        const result = await ctx.ask(far, "work", each);
        if (result.isErr()) throw new Refusal(result.error.kind);
        return result.value;
      },
      name: () => "front",
    }));
    const back = link.b.attach(address("a/front"), Front, front);
    const begin = ({ id }: Job): void => void begun.set(id, (begun.get(id) ?? 0) + 1);
    const server = b.spawn(
      "server",
      Server,
      (ctx) => ({
        async work(each) {
          begin(each);
          const { id, way, pause } = each;
          if (way === "throws") throw new Refusal();
          if (way === "later") await advance(pause);
          if (way === "until told") await new Promise<void>((resolve) => void ctx.onAbort(resolve)); // P7: or it never ends.
          if (way === "asks back") await ctx.ask(back, "name"); // Its circle is ended by the deadline.
          return id;
        },
        note(each) {
          begin(each);
          noted.push(each.id);
        },
        async *count(each) {
          begin(each);
          for (let i = 0; i < ITEMS; i++) {
            if (each.way === "later") await advance(1);
            yield i;
          }
        },
      }),
      { concurrency: 1 + random.below(3) },
    );
    far = link.a.attach(at, Server, server);

    /** Loses the link, with or without being told, and mends it. */
    const harm = async (): Promise<void> => {
      await advance(random.below(40));
      const isTold = random.chance(0.5);
      if (isTold) link.disconnect();
      else link.cut();
      await advance(random.below(30));
      link.heal();
      if (isTold) far = link.a.attach(at, Server, server);
    };

    const settle = (id: number, result: AskResult | "taken"): void => {
      expect(settled.has(id)).toBe(false); // P6: once.
      settled.set(id, result);
      const kind = result === "taken" || result.isOk() ? "ok" : result.error.kind;
      seen[kind] = (seen[kind] ?? 0) + 1;
      if (result === "taken") return;
      if (result.isOk() && result.value !== undefined) expect(result.value).toBe(id);
    };

    const read = async (each: Job): Promise<void> => {
      const items: number[] = [];
      const most = random.chance(0.3) ? random.below(ITEMS) : ITEMS;
      try {
        for await (const item of far.stream("count", each, { timeout: 60, credit: 1 + random.below(6) })) {
          items.push(item);
          if (items.length > most) break;
          if (random.chance(0.3)) await advance(random.below(5));
        }
        if (most === ITEMS) expect(items.length).toBe(ITEMS);
        seen["read"] = (seen["read"] ?? 0) + 1;
      } catch (thrown) {
        if (!(thrown instanceof StreamError)) throw thrown;
        seen["stream ended"] = (seen["stream ended"] ?? 0) + 1;
        if (thrown.kind === "unreachable") expect(items).toEqual([]);
        else expect(["timeout", "stopped"]).toContain(thrown.kind);
      }
      expect(items).toEqual(items.map((_, i) => i)); // In order, and none twice.
    };

    const send = async (each: Job): Promise<void> => {
      const timeout = 20 + random.below(60);
      switch (random.below(5)) {
        case 0:
          far.tell("note", each);
          if (a.router.has(at)) notes.push(each.id);
          return;
        case 1: {
          const offered = await far.offer("note", each, { timeout });
          settle(each.id, offered.isOk() ? "taken" : (offered as AskResult));
          return;
        }
        case 2:
          return read(each);
        case 3:
          settle(each.id, await front.ask("work", each, { timeout }));
          return;
        default:
          settle(each.id, await far.ask("work", each, { timeout }));
      }
    };

    const all = Array.from({ length: MESSAGES }, async () => {
      await advance(random.below(60));
      await send({
        id: sent++,
        way: random.pick(["at once", "at once", "later", "until told", "throws", "asks back"]),
        pause: random.below(40),
      });
    });
    if (mayBreak) for (let times = random.below(3); times > 0; times--) await harm();
    await Promise.all(all);
    await advance(MESSAGES * 400_000); // What is on its way arrives, and streams whose cancel was lost are abandoned in turn.

    eventually(() => {
      for (const [id, result] of settled) {
        const times = begun.get(id) ?? 0;
        if (result === "taken" || result.isOk()) expect(times).toBe(1);
        else if (result.error.kind === "unreachable")
          expect(times).toBe(0); // P17: not handled there.
        else if (result.error.kind === "timeout")
          seen[`timeout, begun ${times}`] = (seen[`timeout, begun ${times}`] ?? 0) + 1;
      }
      if (isLossless) for (const id of notes) expect(begun.get(id)).toBe(1);
      const told = noted.filter((id) => notes.includes(id));
      if (isInOrder) expect(told).toEqual(notes.filter((id) => told.includes(id))); // P2
      expect(a.router.audit().sent).toBeGreaterThan(0);
    });
  };

const rows: [name: string, faults: Partial<LinkOptions>, mayBreak: boolean][] = [
  ["that only takes time", { delay: [0, 10] }, false],
  ["that repeats and reorders", { delay: [0, 10], duplicate: 0.2, reorder: 0.2 }, false],
  ["that loses", { delay: [0, 10], drop: 0.1 }, false],
  ["that breaks, and is mended", { delay: [1, 10] }, true],
  ["that does all of that", { delay: [0, 15], drop: 0.05, duplicate: 0.1, reorder: 0.1 }, true],
];

describe("P1, P6, P7, P17: two systems, over a link", () => {
  for (const [name, faults, mayBreak] of rows) {
    test(name, async () => {
      const seen: Seen = {};
      const report = await simulate(overLink(faults, mayBreak, seen), {
        seeds: SEEDS / rows.length,
        faults: { delay: 0.05 },
        expected: ({ error }) => error instanceof Refusal,
      });
      expect(report.runs).toBe(SEEDS / rows.length);
      for (const kind of ["ok", "timeout", "handler-failed", "read"]) expect(seen[kind]).toBeGreaterThan(5);
      if (mayBreak) expect(seen["unreachable"]).toBeGreaterThan(0);
    });
  }
});
