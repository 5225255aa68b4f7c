import { expect, test } from "bun:test";
import { UpdateLog } from "../../src/acp/client/update-log";
import { agentText } from "../../src/acp/index";

const MEGABYTE = "x".repeat(1_000_000);

test("P18: updates that nobody reads are kept up to 100, and up to 4 MiB: the latest", async () => {
  const log = new UpdateLog();
  for (let i = 0; i < 1_000; i++) log.push(agentText(String(i)));
  for (let i = 0; i < 50; i++) log.push(agentText(`${i} ${MEGABYTE}`));
  const reader = log.read(true);
  reader.end();
  const found: unknown[] = [];
  for await (const update of reader) found.push("content" in update && JSON.stringify(update.content).slice(23, 27));
  expect(found).toEqual(["46 x", "47 x", "48 x", "49 x"]);
});

test.each([
  [
    "10,000 updates",
    (log: UpdateLog) => {
      for (let i = 0; i <= 10_000; i++) log.push(agentText("a"));
    },
    "10000 updates behind",
  ],
  [
    "64 MiB",
    (log: UpdateLog) => {
      for (let i = 0; i < 100; i++) log.push(agentText(MEGABYTE));
    },
    "64 MiB behind",
  ],
])("P18: a reader that is %s behind ends, and keeps nothing", async (_, flood, sentence) => {
  const log = new UpdateLog();
  const reader = log.read();
  flood(log);
  const found: unknown[] = [];
  const read = async () => {
    for await (const update of reader) found.push(update);
  };
  await expect(read()).rejects.toThrow(sentence);
  expect(found).toEqual([]);
});

test("a reader that keeps up may read any number of updates", async () => {
  const log = new UpdateLog();
  const items = log.read()[Symbol.asyncIterator]();
  for (let i = 0; i < 100; i++) {
    for (let j = 0; j < 10; j++) log.push(agentText(MEGABYTE));
    for (let j = 0; j < 10; j++) expect((await items.next()).done).toBe(false);
  }
  await items.return?.(undefined);
});
