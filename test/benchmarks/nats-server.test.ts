import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasNats } from "../nats/rooms";

test.skipIf(!hasNats)(
  "a server whose program exits without closing it leaves no folder",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "servers-"));
    const harness = join(import.meta.dir, "../../benchmarks/harness/nats-server.ts");
    const program = `
      import { startNats } from ${JSON.stringify(harness)};
      await startNats();
      const { readdirSync } = await import("node:fs");
      console.log(readdirSync(${JSON.stringify(folder)}).length);
      process.exit(3);`;
    const child = Bun.spawn([process.execPath, "-e", program], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(await child.stdout.text()).toBe("1\n"); // While it runs, it has one.
    expect(await child.exited).toBe(3);
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  },
  60_000,
);
