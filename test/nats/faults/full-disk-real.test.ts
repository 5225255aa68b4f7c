import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "../../../benchmarks/harness/nats-server";
import { ids, node, Orders, spawnOrders } from "../durable/nodes";
import { event } from "../events";
import { hasNats } from "../rooms";

const run = (...command: string[]): boolean => {
  try {
    return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  } catch {
    return false; // There is no such program.
  }
};

/** Mounts a small disk; undefined where this process may not. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "envoi-disk-"));
  if (run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder)) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

function removeDisk(folder: string): void {
  run("umount", folder);
  rmSync(folder, { recursive: true, force: true });
}

const probe = hasNats ? smallDisk() : undefined;
const mayMount = probe !== undefined;
if (probe !== undefined) removeDisk(probe);
if (hasNats && !mayMount) console.warn("The test of a real full disk is skipped: this process may not mount a tmpfs.");

/** Writes a file until the disk is full. */
function fillDisk(file: string): void {
  const bytes = Buffer.alloc(4_096);
  try {
    for (;;) appendFileSync(file, bytes);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "ENOSPC" });
  }
}

describe.skipIf(!mayMount)("durable sends to a server whose disk is full", () => {
  test("end as what nobody knows, tell what to do, and lose nothing; once the server was started with room, they go on", async () => {
    const disk = smallDisk() ?? ""; // It could be mounted above.
    const nats = await startNats({ jetstream: false, config: `jetstream { store_dir: "${disk}", max_file: 1GB }` });
    afterAll(async () => {
      await nats.close();
      removeDisk(disk);
    });
    await using one = await node("node-1", nats.url, { lease: 60_000 });
    const orders = one.cluster.durable("orders", Orders);
    for (const id of ids(5)) expect((await orders.tell("place", { id })).isOk()).toBe(true);
    fillDisk(join(disk, "ballast"));
    const told = event(one.system, "error");
    const lost = await orders.tell("place", { id: "x".repeat(100_000) });
    if (lost.isErr() && lost.error.kind === "timeout") {
      expect(JSON.stringify((await told).detail)).toMatch(
        /ENVOI_shop_durable answers, and stores nothing.*start that server anew/,
      );
    } else expect(lost.isErr() && lost.error.message).toContain("no room"); // A server before 2.14 says so.
    rmSync(join(disk, "ballast"));
    await nats.kill();
    await nats.restart();
    for (const id of ids(5, 5)) {
      const stored = await orders.tell("place", { id }, { timeout: 60_000 });
      expect(stored.isErr() ? stored.error.message : "stored").toBe("stored");
    }
    const actor = spawnOrders(one.system);
    await one.cluster.receiveDurable("orders", actor.ref);
    await actor.calls(10);
    const handled = actor.handled.map(({ id }) => id).filter((id) => id.startsWith("o-"));
    expect(handled).toEqual([...ids(10)]);
  }, 60_000);
});
