import { describe, expect, test } from "bun:test";
import { hasNats, server } from "../nats/rooms";
import { call, type Place } from "./same/caller";
import { inOneProcess, overNats, overWorkers } from "./same/places";
import { DIFFERENCES, readTable } from "./table";

/** Only against hangs. */
const WITHIN = 120_000;

describe("P17: one source of actors and of their caller", async () => {
  const { url } = hasNats ? await server() : { url: "" };
  const table = await readTable("differences");
  const expected = {
    notes: ["the reference came home", "we have met"],
    offered: { ok: null },
    added: Array.from({ length: 101 }, (_, at) => at + 1),
    deep: { ok: { deep: [1, "two", null, { three: true }], text: "ü\u2028" } },
    room: [{ ok: null }, { error: "mailbox-full", retryable: true }],
    full: { error: "mailbox-full", retryable: true },
    progress: [1, 2, "half"],
    all: Array.from({ length: 50 }, (_, at) => at + 1),
    some: Array.from({ length: 10 }, (_, at) => at + 1),
    left: "the reader left",
    failing: [1, "handler-failed"],
    given: [
      { error: "cancelled", retryable: false },
      { error: "timeout", retryable: true },
    ],
    metadata: { user: "ada", trace: { id: 7 } },
    hasDeadline: true,
    failed: "handler-failed",
    unknown: { error: "unknown-operation", retryable: false },
    lines: { ok: 2 },
    error: undefined,
    stopped: { error: "stopped", retryable: false },
  };

  async function run(opening: Promise<Place>, column: string): Promise<void> {
    await using place = await opening;
    const { same, differences } = await call(place);
    expect<unknown>(same).toEqual(expected);
    expect(differences).toEqual(table[column] as typeof differences); // It has this column, or they differ.
  }

  test("gives its results in one process", () => run(inOneProcess(), "one process"), WITHIN);

  test.each(["thread", "process"] as const)(
    "gives the same over a %s, but for the differences that docs/transports.md tells",
    (as) => run(overWorkers(as), "workers"),
    WITHIN,
  );

  test.skipIf(!hasNats)(
    "gives the same over NATS, but for the differences that docs/transports.md tells",
    () => run(overNats(url), "NATS"),
    WITHIN,
  );

  test("has no column beside these", () => expect(Object.keys(table)).toEqual(Object.keys(DIFFERENCES)));
});
