import { describe, expect, test } from "bun:test";
import type { Context } from "../../src/index";
import { createBehaviourKit, createTestSystem } from "../../src/testing/index";
import { Counter, type Counting, counting, Log } from "./counter";

describe("asking in a kit", () => {
  const asking = (ask: (ctx: Context<Counting>, log: ReturnType<typeof refOf>) => Promise<number>) => {
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({ later: () => ask(ctx, log) })),
    );
    const log = refOf(kit);
    return { kit, log };
  };
  const refOf = (kit: ReturnType<typeof createBehaviourKit<Counting>>) => kit.ref(Log, "log");

  test("gets the answer that the test prepared, by ctx.ask and by the reference", async () => {
    const { kit, log } = asking(async (ctx, ref) => {
      const one = await ctx.ask(ref, "lines", { timeout: 500 });
      const two = await ref.ask("lines", { timeout: 500 });
      return one.unwrapOr(-1) + two.unwrapOr(-1);
    });
    let lines = 1;
    kit.answer(log, "lines", () => lines++);
    const run = kit.run("later", 1);
    expect(await run.reply).toBe(3);
    const asked = { kind: "asked", to: "@(log)", operation: "lines", payload: undefined };
    expect<readonly object[]>(run.effects).toEqual([asked, asked]);
  });

  test("gets the refusal that the test prepared, as the kind of error that it would be", async () => {
    const kinds = {
      timeout: { timeout: 5_000 },
      cancelled: { reason: expect.any(Error) },
      "no-recipient": {},
      stopped: {},
      "mailbox-full": { capacity: 1 },
      "unknown-operation": {},
      "invalid-payload": { issues: [{ path: "", message: expect.any(String) }] },
      "handler-failed": { cause: expect.any(Error) },
      "ask-cycle": { path: ["@(counter)", "@(log)", "@(counter)"] },
      unreachable: { cause: expect.any(Error) },
    };
    for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
      const { kit, log } = asking(async (ctx, ref) => {
        const error = (await ctx.ask(ref, "write", "x"))._unsafeUnwrapErr();
        expect(error).toMatchObject({
          kind,
          ...kinds[kind],
          address: "@(log)",
          operation: "write",
          undelivered: { payload: "x" },
        });
        const offered = await ref.offer("write", "y");
        expect(offered._unsafeUnwrapErr().kind).toBe(kind);
        return 7;
      });
      kit.refuse(log, "write", kind);
      const run = kit.run("later", 1);
      expect(await run.reply).toBe(7);
      expect(run.effects.map((effect) => effect.kind)).toEqual(["asked", "offered"]);
    }
  });

  test("throws where the test prepared nothing, and an offer is taken then", async () => {
    const { kit } = asking(async (ctx, ref) => {
      expect((await ref.offer("write", "x")).isOk()).toBe(true);
      return (await ctx.ask(ref, "lines")).unwrapOr(-1);
    });
    await expect(kit.run("later", 1).reply).rejects.toThrow(
      "The actor asks @(log) for 'lines', and no answer is prepared: write kit.answer(ref, 'lines', () => …) first.",
    );
  });

  test("P12: reads the stream that the test prepared, which is sent at the first read", async () => {
    const { kit, log } = asking(async (ctx, ref) => {
      const before = kit.effects.length;
      const stream = ctx.stream(ref, "tail", 2, { credit: 1 });
      expect(kit.effects).toHaveLength(before);
      const lines = await Array.fromAsync(stream);
      for await (const line of ref.stream("tail", 3)) {
        lines.push(line);
        break;
      }
      expect(lines).toEqual(["2", "2", "3"]);
      return lines.length;
    });
    kit.answer(log, "tail", (n) => [String(n), String(n)]);
    const run = kit.run("later", 1);
    expect(await run.reply).toBe(3);
    expect(run.effects.map((effect) => effect.kind)).toEqual(["streamed", "streamed"]);
    kit.refuse(log, "tail", "stopped");
    await expect(kit.run("later", 1).reply).rejects.toMatchObject({ name: "StreamError", kind: "stopped" });
  });

  test("goes to references of the kit only: which argument is the payload is known of these", async () => {
    await using real = createTestSystem();
    const { ref } = real.createProbe(Log);
    const kit = createBehaviourKit(
      Counter,
      counting((ctx) => ({ later: async () => (await ctx.ask(ref, "lines")).unwrapOr(0) })),
    );
    await expect(kit.run("later", 1).reply).rejects.toThrow('make one by kit.ref(Protocol, "name")');
  });

  test("a reference of a kit shows its address, as a real one does", () => {
    const kit = createBehaviourKit(Counter, counting(), "mine");
    const ref = kit.ref(Log, "log");
    expect([String(ref), JSON.stringify(ref), Bun.inspect(ref)]).toEqual(["@(log)", '"@(log)"', "Ref @(log)"]);
    expect(String(kit.self)).toBe("@(mine)");
    kit.ref("any").tell("whatever", 1);
    expect(kit.effects).toHaveLength(1);
  });
});
