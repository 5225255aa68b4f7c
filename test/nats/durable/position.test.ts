import { describe, expect, test } from "bun:test";
import { createSystem, type System } from "../../../src";
import { openConnection } from "../../../src/nats/connect";
import { openKeeper } from "../../../src/nats/durable/kept";
import { placeOfName } from "../../../src/nats/durable/place";
import { Positions } from "../../../src/nats/durable/position";
import { hasNats, server } from "../rooms";

const BATCH = { stream: "2026-01-01T00:00:00Z", sequence: 7, storedAt: 1_767_225_600_000_000 };

describe.skipIf(!hasNats)("the position of a receiver", () => {
  const opened = async (system: System, url: string) => {
    const connection = await openConnection(system, { servers: url, name: "shop", node: "node-1" });
    return new Positions(await openKeeper(connection), placeOfName("orders"));
  };

  test("is not overwritten by a receiver that stood still while another one went on", async () => {
    const { url } = await server();
    await using system = createSystem();
    const [stopped, later] = [await opened(system, url), await opened(system, url)];
    expect(await stopped.of(BATCH.stream, BATCH.sequence, BATCH.storedAt)).toBeUndefined();
    expect(await stopped.put({ ...BATCH, done: 1, attempts: 1, reach: 2 })).toBe(true);
    expect(await later.of(BATCH.stream, BATCH.sequence, BATCH.storedAt)).toMatchObject({ done: 1 });
    const last = { ...BATCH, done: 5, attempts: 2, reach: 6 };
    expect(await later.put(last)).toBe(true);
    expect(await stopped.put({ ...BATCH, done: 2, attempts: 0, reach: 2 })).toBe(false);
    expect(await later.of(BATCH.stream, BATCH.sequence, BATCH.storedAt)).toEqual(last);
  });

  test("is forgotten only where it is the one that is known", async () => {
    const { url } = await server();
    await using system = createSystem();
    const [stopped, later] = [await opened(system, url), await opened(system, url)];
    await stopped.put({ ...BATCH, done: 1, attempts: 1, reach: 2 });
    await later.of(BATCH.stream, BATCH.sequence, BATCH.storedAt);
    await later.put({ ...BATCH, done: 5, attempts: 2, reach: 6 });
    await stopped.forget();
    expect(await later.of(BATCH.stream, BATCH.sequence, BATCH.storedAt)).toMatchObject({ done: 5 });
    await later.forget();
    expect(await later.of(BATCH.stream, BATCH.sequence, BATCH.storedAt)).toBeUndefined();
    expect(await later.put({ ...BATCH, done: 6, attempts: 0, reach: 6 })).toBe(true);
  });
});
