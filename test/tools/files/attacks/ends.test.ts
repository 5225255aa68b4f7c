import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createSystem } from "../../../../src";
import { spawnFileSystem } from "../../../../src/tools";
import { openBelow } from "../ways";
import { litterIn } from "./litter";
import { operations, perform } from "./operations";
import { attack, createYard, ways } from "./yard";

describe.each(ways)("what ends in the middle, by %s", (resolution) => {
  test("an actor that is stopped with everything under way leaves no litter, nothing torn and nothing open", async () => {
    using yard = createYard();
    const content = "z".repeat(1_000_000);
    yard.put("big", content);
    for (let turns = 0; turns < 5; turns++) {
      const system = createSystem({ logger: { warn() {}, error() {} } });
      const files = spawnFileSystem(system, { root: yard.root, resolution });
      const going = [
        ...Array.from({ length: 10 }, (_, i) => files.ask("write", { path: `w${i}`, content })),
        ...Array.from({ length: 10 }, () => files.ask("read", { path: "big" })),
        ...operations.map((operation) => perform(files, operation, "big").catch((error: unknown) => error)),
        ...operations.map((operation) => perform(files, operation, "a").catch((error: unknown) => error)),
      ];
      for (let i = 0; i < turns * 3; i++) await new Promise((resolve) => setImmediate(resolve));
      await system.shutdown();
      await Promise.all(going);
      expect(openBelow(yard.place)).toEqual([]);
      expect(litterIn(yard.root, { isRunning: false })).toEqual([]);
      for (const name of readdirSync(yard.root).filter((each) => /^w\d$/.test(each))) {
        expect(readFileSync(join(yard.root, name), "utf8") === content).toBe(true);
      }
      if (!readdirSync(yard.root).includes("big")) yard.put("big", content);
      if (!readdirSync(yard.root).includes("a")) yard.put("a/b/deep.txt", "inside");
    }
    yard.expectUntouched();
  }, 240_000);

  test("a write that the stop of its actor ends is told so, and leaves the old file", async () => {
    using yard = createYard();
    yard.put("file.txt", "old");
    await using system = createSystem();
    const files = spawnFileSystem(system, { root: yard.root, resolution });
    const writing = files.ask("write", { path: "file.txt", content: "new ".repeat(2_000_000) });
    await files.ask("inspect"); // It has begun, and goes on piece by piece.
    await system.stop(files);
    const reply = (await writing)._unsafeUnwrap();
    expect(reply).toMatchObject({ ok: false, error: { kind: "io", path: "file.txt" } });
    expect(readFileSync(join(yard.root, "file.txt"), "utf8")).toBe("old");
    expect(litterIn(yard.root, { isRunning: false })).toEqual([]);
  });

  test("askers that give up at any moment leave no litter and nothing open", async () => {
    using yard = createYard();
    yard.put("big", "z".repeat(1_000_000));
    await attack(yard, { resolution }, async ({ files, system }) => {
      for (let i = 0; i < 36; i++) {
        const stop = new AbortController();
        const going = [
          files.ask("write", { path: "w", content: "z".repeat(1_000_000) }, { signal: stop.signal }),
          files.ask("append", { path: "log", content: "z".repeat(500_000) }, { signal: stop.signal }),
          files.ask("read", { path: "big" }, { signal: stop.signal }),
          files.ask("copy", { from: "big", to: `c${i}` }, { signal: stop.signal }),
          files.ask("edit", { path: "big", edits: [{ oldText: "y", newText: "x" }] }, { signal: stop.signal }),
        ];
        for (let turns = 0; turns < i % 12; turns++) await new Promise((resolve) => setImmediate(resolve));
        stop.abort();
        for (const reply of await Promise.all(going)) {
          if (reply.isErr()) expect(reply.error.kind).toBe("cancelled");
        }
      }
      for (let turns = 0; system.router.audit().running > 0 && turns < 10_000; turns++) await Bun.sleep(0);
      expect(system.router.audit().running).toBe(0);
      // Each append is there as a whole, or not at all.
      if (readdirSync(yard.root).includes("log")) {
        expect(readFileSync(join(yard.root, "log")).length % 500_000).toBe(0);
      }
      for (const name of readdirSync(yard.root).filter((each) => /^(c\d+|w|big)$/.test(each))) {
        expect(readFileSync(join(yard.root, name)).length).toBe(1_000_000);
      }
    });
    expect(litterIn(yard.root, { isRunning: false })).toEqual([]);
  }, 240_000);

  test("a staging directory that others delete without end costs no content", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      for (let i = 0; i < 60; i++) {
        const content = `${i}`.repeat(i % 3 === 0 ? 100_000 : 10);
        const going = files.ask("write", { path: "file.txt", content });
        if (i % 2 === 0) rmSync(join(yard.root, ".envoi"), { recursive: true, force: true });
        else
          await new Promise((resolve) => setImmediate(resolve)).then(() =>
            rmSync(join(yard.root, ".envoi"), { recursive: true, force: true }),
          );
        const told = (await going)._unsafeUnwrap();
        const found = readFileSync(join(yard.root, "file.txt"), "utf8");
        if (told.ok) expect(found === content).toBe(true);
        else expect(told.error.kind).toMatch(/not-found|io/);
        const after = (await files.ask("write", { path: "file.txt", content: "whole" }))._unsafeUnwrap();
        expect(after.ok).toBe(true);
      }
    });
  }, 240_000);

  test("a write that was abandoned when its actor began anew is not made later, by descriptors that are others' by then", async () => {
    using yard = createYard();
    const lock = join(yard.root, ".envoi/lock");
    {
      await using system = createSystem({
        logger: { warn() {}, error() {} },
        hookTimeout: 20,
      });
      system.around(({ operation }, run) => {
        if (operation === "stat") throw new Error("a fault that no request can make");
        run();
      });
      let hasRestarted = (): void => {};
      const restarted = new Promise<void>((resolve) => {
        hasRestarted = resolve;
      });
      system.events.subscribe(({ kind }) => kind === "restarted" && hasRestarted());
      const files = spawnFileSystem(system, { root: yard.root, resolution });
      await files.ask("write", { path: "first.txt", content: "it" });
      // Another program has the lock, as one that hangs would.
      const holder = Bun.spawn(["flock", lock, "-c", "echo held; read -r line"], { stdin: "pipe", stdout: "pipe" });
      await holder.stdout.getReader().read();
      const going = files.ask("write", { path: "late.txt", content: "too late" });
      expect((await files.ask("stat", { path: "first.txt" })).isErr()).toBe(true);
      await restarted;
      expect((await going).isErr()).toBe(true);
      holder.stdin.write("go\n");
      holder.stdin.flush();
      await holder.exited;
      for (let turns = 0; turns < 20; turns++) {
        // Each of them takes the lock that is free now, and none meets a descriptor that the one before has closed.
        expect((await files.ask("append", { path: "log.txt", content: "." }))._unsafeUnwrap()).toMatchObject({
          ok: true,
        });
        await Bun.sleep(1);
      }
      expect(existsSync(join(yard.root, "late.txt"))).toBe(false);
    }
    expect(openBelow(yard.place)).toEqual([]);
    expect(litterIn(yard.root, { isRunning: false })).toEqual([]);
  }, 240_000);
});
