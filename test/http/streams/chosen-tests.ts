import * as bun from "bun:test";
import { isLong } from "../../property/runs";

// Takes the place of vitest for the published tests of the Durable Streams protocol, and runs those that are about reads.

export const { expect, vi } = bun;

/** Groups of tests, and tests, that are about writes, which envoi's gateway does not offer. */
const WRITES =
  /^(Basic Stream|Append Op|TTL|Idempotent Producer|Fork|Case-Insens|Content-Type Val)|Sequence|Close Operations|close-with-different-body|Create with|Concurrent Writer|preflight|producer|seq\b|Expires-At|\bTTL\b/i;
/** Groups of random operations. */
const LONG = /Property-Based/;

const group: string[] = [];

const isChosen = (name: string): boolean => {
  const path = [...group, name].join(" > ");
  return !WRITES.test(path) && (isLong || !LONG.test(path));
};

const chosen = (name: string, body: () => Promise<void>, timeout?: number): void => {
  if (isChosen(name)) bun.test(name, body, timeout);
};

export const test = Object.assign(chosen, { concurrent: chosen });

const grouped = (name: string, body: () => void): void =>
  bun.describe(name, () => {
    group.push(name);
    body();
    group.pop();
  });

/** Subscriptions are writes, too. */
const never = () => (): void => {};

export const describe = Object.assign(grouped, { runIf: never });
