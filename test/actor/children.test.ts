import { expect, test } from "bun:test";
import type { Cell } from "../../src/actor/cell";
import { Children } from "../../src/actor/children";
import { cellOf } from "../../src/actor/ref";
import { createSystem, defineProtocol, type System } from "../../src/index";

const Quiet = defineProtocol("quiet", {});

const spawn = (system: System, name: string) => system.spawn(name, Quiet, () => ({}));

test("P14: of a thousand children that came and went, a handful is kept; those that are left are in order", async () => {
  await using system = createSystem();
  const children = new Children();
  const kept: WeakRef<Cell>[] = [];
  const first = spawn(system, "first");
  children.add(cellOf(first));
  for (let i = 0; i < 1_000; i++) {
    const child = spawn(system, `child-${i}`);
    children.add(cellOf(child));
    kept.push(new WeakRef(cellOf(child)));
    await system.stop(child);
    children.drop();
  }
  const last = spawn(system, "last");
  children.add(cellOf(last));
  expect(children.all().map(({ address }) => address)).toEqual([first.address, last.address]);
  expect(children.size).toBe(2);
  await Bun.sleep(0);
  Bun.gc(true);
  expect(kept.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(100);
});
