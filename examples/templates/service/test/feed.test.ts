import { expect, test } from "bun:test";
import { createTestSystem } from "envoi/testing";
import { createFeed } from "../src/feed";
import { Feed } from "../src/protocols";

test("a slow reader gets the newest level of each item, and a quick one each change", async () => {
  await using kit = createTestSystem();
  const feed = kit.system.spawn("feed", Feed, createFeed, { concurrency: 3 });
  const [slow, quick] = [feed.stream("changes", { credit: 1 }), feed.stream("changes", { credit: 100 })];
  for (const stream of [slow, quick]) stream.ready(); // Begins it.
  for (const left of [1, 2, 3]) {
    feed.tell("publish", { item: "tea", left });
    await kit.settle();
  }
  expect(quick.ready().map(({ left }) => left)).toEqual([1, 2, 3]);
  expect([(await slow.next()).value?.left, (await slow.next()).value?.left]).toEqual([1, 3]);
  for (const stream of [slow, quick]) await stream.return();
});

test("a reader that leaves is forgotten, and the others go on", async () => {
  await using kit = createTestSystem();
  const feed = kit.system.spawn("feed", Feed, createFeed, { concurrency: 2 }); // One reader at a time.
  for (let reader = 1; reader <= 3; reader++) {
    const stream = feed.stream("changes");
    stream.ready();
    feed.tell("publish", { item: "tea", left: reader });
    await kit.settle();
    expect(stream.ready().at(-1)?.left).toBe(reader);
    await stream.return();
    await kit.settle();
  }
});
