import { afterEach, describe, expect, test } from "bun:test";
import { createSystem, type System } from "../../src/index";
import { spawnWorkers, transfer } from "../../src/workers/index";
import { Kitchen } from "./programs/protocols";

const SILENT = { warn: () => undefined, error: () => undefined };

let system: System;
afterEach(() => system?.shutdown({ timeout: 20_000 }));

async function start(as: "thread" | "process") {
  system = createSystem({ name: "main", logger: SILENT, hookTimeout: 20_000 });
  const workers = await spawnWorkers(system, {
    entry: new URL("./programs/kitchen.ts", import.meta.url),
    size: 1,
    as,
    readyWithin: 60_000,
    heartbeatLimit: Number.POSITIVE_INFINITY,
  });
  return workers.ref("kitchen", Kitchen);
}

describe.each(["thread", "process"] as const)("bytes to and from a %s", (as) => {
  test("come in payloads, replies and items; a thread takes over their memory, a process a copy", async () => {
    const kitchen = await start(as);
    const meat = new Uint8Array(1_000_000).fill(1);
    const asked = kitchen.ask("grill", { meat: transfer(meat), by: 2 });
    expect(meat.length).toBe(as === "thread" ? 0 : 1_000_000);
    expect((await asked)._unsafeUnwrap().meat).toEqual(new Uint8Array(1_000_000).fill(3));
    const slices = await Array.fromAsync(kitchen.stream("slice", transfer(Uint8Array.of(7, 8, 9))));
    expect(slices.map((slice) => [...slice])).toEqual([[7], [8], [9]]);
  });

  test("are a copy where they are a part of a buffer, or the memory of WebAssembly", async () => {
    const kitchen = await start(as);
    const memory = new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer);
    for (const meat of [memory, memory.subarray(3, 5)]) {
      const grilled = (await kitchen.ask("grill", { meat: transfer(meat), by: 1 }))._unsafeUnwrap().meat;
      expect(grilled).toEqual(new Uint8Array(meat.length).fill(1));
    }
    expect(memory.length).toBe(65_536);
  });

  test("stay whole where their message cannot leave", async () => {
    const kitchen = await start(as);
    const meat = transfer(Uint8Array.of(1));
    await system.shutdown({ timeout: 20_000 });
    expect((await kitchen.ask("grill", { meat, by: 1 })).isErr()).toBe(true);
    expect(meat).toHaveLength(1);
  });
});
