import { expect, test } from "bun:test";
import type { WatchItem } from "../../../../src/tools/files/requests/watching";
import { Unread } from "../../../../src/tools/files/watch/unread";

function allOf(unread: Unread): string[] {
  const items: string[] = [];
  for (let item = unread.take(); item !== undefined; item = unread.take()) items.push(`${item.kind} ${item.path}`);
  return items;
}

function unreadOf(...items: [WatchItem["kind"], string][]): Unread {
  const unread = new Unread("w");
  for (const [kind, path] of items) unread.add(kind, path);
  return unread;
}

test("a change of what waits to be told as created or changed is that one; nothing else is left out", () => {
  const unread = unreadOf(
    ["created", "a"],
    ["changed", "a"],
    ["changed", "b"],
    ["changed", "b"],
    ["deleted", "b"],
    ["created", "b"],
    ["deleted", "b"],
    ["overflow", "d"],
    ["overflow", "d"],
  );
  expect(allOf(unread)).toEqual(["created a", "changed b", "deleted b", "created b", "deleted b", "overflow d"]);
});

test("a change of what was read is told anew", () => {
  const unread = unreadOf(["created", "a"]);
  unread.take();
  unread.add("changed", "a");
  expect(allOf(unread)).toEqual(["changed a"]);
});

test("10,000 items wait; an overflow stands for what comes then, until all of them are read", () => {
  const unread = new Unread("w");
  for (let i = 0; i < 10_001; i++) unread.add("created", `${i}`);
  expect(unread.take()?.path).toBe("0");
  unread.add("created", "comes too late, though there is room");
  const rest = allOf(unread);
  expect([rest.length, rest.at(-2), rest.at(-1)]).toEqual([10_000, "created 9999", "overflow w"]);
  unread.add("created", "later");
  expect(allOf(unread)).toEqual(["created later"]);
});

test("what was read is not kept, also where something always waits", async () => {
  const unread = new Unread("w");
  const read: WeakRef<WatchItem>[] = [];
  unread.add("created", "first");
  for (let i = 0; i < 30_000; i++) {
    unread.add("created", `${i}`);
    const item = unread.take();
    if (item !== undefined) read.push(new WeakRef(item));
  }
  await new Promise<void>((resolve) => setImmediate(resolve)); // A WeakRef holds what it is of until then.);
  Bun.gc(true);
  expect(read.filter((item) => item.deref() !== undefined).length).toBeLessThan(15_000);
  expect(unread.take()?.path).toBe("29999");
});
