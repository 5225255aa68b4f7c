import { expect, test } from "bun:test";
import { createManualClock } from "../../../../src/testing/index";
import { ActiveRun } from "../../../../src/tools/code/pool/active-run";
import { Attempt } from "../../../../src/tools/code/pool/attempt";
import type { Word } from "../../../../src/tools/code/pool/channel";
import type { PooledProcess } from "../../../../src/tools/code/pool/pooled-process";
import { FILE } from "../../../../src/tools/code/pool/program-file";
import { runOf } from "../sandbox/kit";

test("orders have numbers that cannot be guessed: whole, anywhere below 2^47, and no two alike", () => {
  const clock = createManualClock();
  const words: Word[] = [];
  const process = { send: (word: Word) => words.push(word) > 0, longestLine: 0 };
  for (let i = 0; i < 1_000; i++) {
    const active = new ActiveRun(
      runOf("1"),
      clock,
      () => {},
      () => {},
    );
    // The part of a process that an attempt needs to begin.
    new Attempt(active, process as PooledProcess, clock, { file: FILE, programOf: () => undefined }).begin(false);
  }
  const numbers = words.flatMap((word) => (word[0] === "run" ? [word[1].number] : []));
  expect(new Set(numbers).size).toBe(1_000);
  expect(numbers.every((number) => Number.isSafeInteger(number) && number >= 0 && number < 2 ** 47)).toBe(true);
  // Each bit is set in about half of them; in so few or so many, by chance, once in 10^18 tries.
  for (let bit = 0; bit < 47; bit++) {
    const set = numbers.filter((number) => Math.floor(number / 2 ** bit) % 2 === 1).length;
    expect([bit, set > 350 && set < 650]).toEqual([bit, true]);
  }
});
