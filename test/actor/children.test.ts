import { expect, test } from "bun:test";
import { type Cell, cellOf } from "../../src/actor/cell/cell";
import { Children } from "../../src/actor/cell/directory";
import { createSystem, defineProtocol, type System, Type } from "../../src/index";

const Quiet = defineProtocol("quiet", {});

const spawn = (system: System, name: string) => system.spawn(name, Quiet, () => ({}));

test("P14: of a thousand children that came and went, a handful is kept; those that are left are in order", async () => {
  await using system = createSystem();
  const children = new Children(cellOf(system.spawn("parent", Quiet, () => ({}))).addressLength);
  const kept: WeakRef<Cell>[] = [];
  const first = spawn(system, "first");
  children.add(cellOf(first));
  for (let i = 0; i < 1_000; i++) {
    const child = spawn(system, `child-${i}`);
    children.add(cellOf(child));
    kept.push(new WeakRef(cellOf(child)));
    await system.stop(child);
    children.drop(cellOf(child));
  }
  const last = spawn(system, "last");
  children.add(cellOf(last));
  expect(children.all().map(({ address }) => address)).toEqual([first.address, last.address]);
  expect(children.size).toBe(2);
  await new Promise(setImmediate); // A WeakRef keeps its target for the job that looked at it.
  Bun.gc(true);
  expect(kept.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(100);
});

test("the name of a child is looked at like that of any actor, and its address is as long as an address may be", async () => {
  await using system = createSystem();
  const names: unknown[] = [
    "",
    "two words",
    "a//b",
    "/a",
    "a/",
    "(a)",
    "a".repeat(511),
    "a",
    "a/b",
    "日本",
    "a".repeat(510),
  ];
  const told: unknown[] = [];
  system.spawn("p", Quiet, (ctx) => {
    for (const name of names) {
      try {
        // A name that no type stops.
        told.push(ctx.spawn(name as string, Quiet, () => ({})).address.length);
      } catch (thrown) {
        told.push(String(thrown).slice(0, 14));
      }
    }
    return {};
  });
  const wrong = 'TypeError: "p/';
  expect(told).toEqual([wrong, wrong, wrong, wrong, wrong, wrong, wrong, 6, 8, 7, 515]);
});

test("P13: a stream is ended by a handler that stops its actor before it returns what would yield", async () => {
  await using system = createSystem();
  const Ticks = defineProtocol("ticks", { ticks: { stream: Type.Number() } });
  const ticks = system.spawn("ticks", Ticks, (ctx) => ({
    ticks() {
      ctx.stop();
      return [1, 2, 3];
    },
  }));
  let failure: unknown;
  try {
    for await (const _ of ticks.stream("ticks"));
  } catch (thrown) {
    failure = thrown;
  }
  expect(failure).toMatchObject({ kind: "stopped" });
});
