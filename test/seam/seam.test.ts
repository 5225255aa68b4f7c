import { describe, expect, test } from "bun:test";
import { hasNats, server } from "../nats/rooms";
import { measure } from "./measure";
import { workerThatDies } from "./places";
import { readTable, SEAM } from "./table";

/** Only against hangs. */
const WITHIN = 120_000;

describe("P17: the table of the seam in docs/transports.md says what happens when", async () => {
  const { url } = hasNats ? await server() : { url: "" };
  const table = await readTable("seam");

  for (const [column, run] of Object.entries(SEAM)) {
    test.skipIf(!hasNats && column.startsWith("NATS"))(
      column,
      async () => expect(await run(url)).toEqual(table[column] ?? {}),
      WITHIN,
    );
  }

  test(
    "a worker dies that is a thread",
    async () => {
      await using place = await workerThatDies("thread");
      expect(await measure(place)).toEqual(table["a worker dies"] ?? {});
    },
    WITHIN,
  );

  test("and it has no other column", () => expect(Object.keys(table)).toEqual(Object.keys(SEAM)));
});
