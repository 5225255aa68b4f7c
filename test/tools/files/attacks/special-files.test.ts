import { describe, expect, test } from "bun:test";
import { existsSync, lstatSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Operation, operations, type Told } from "./operations";
import { createYard, ways, type Yard } from "./yard";

/** Copies of a special file for the operations that take it away. */
const names = (name: string): string[] =>
  ["", "-for-move-from", "-for-delete", "-for-delete-all"].map((end) => name + end);

const make = (command: string[]): boolean => Bun.spawnSync(command).exitCode === 0;

/** Told of a special file by each operation; what is not a file's is looked at as any entry. */
function isExpected({ operation, name }: Operation, told: Told): boolean {
  const kind = told.ok ? "served" : told.error.kind;
  if (operation === "stat") return told.ok && (told.value as { kind: string }).kind === "other";
  if (operation === "exists") return told.ok && told.value === true;
  if (operation === "delete") return told.ok;
  if (name === "move from") return told.ok || kind === "not-a-file";
  if (operation === "list" || operation === "watch") return kind === "not-a-directory" || kind === "not-a-file";
  if (operation === "mkdir") return kind === "exists" || kind === "not-a-directory" || kind === "not-a-file";
  if (name === "copy a directory to") return kind === "exists" || kind === "not-a-file";
  return kind === "not-a-file";
}

async function tryAll(yard: Yard, way: string, paths: string[]): Promise<void> {
  const program = Bun.spawn(
    [process.execPath, join(import.meta.dir, "programs/special-files.ts"), yard.root, way, ...paths],
    { stdout: "pipe", stderr: "inherit", timeout: 20_000, killSignal: "SIGKILL" },
  );
  const lines = (await new Response(program.stdout).text()).trim().split("\n");
  expect(await program.exited).toBe(0);
  const results = lines.map((line) => JSON.parse(line) as { path: string; name: string; told: Told });
  expect(results.pop()).toEqual({ failed: 0 } as never);
  expect(results).toHaveLength(paths.length * operations.length);
  for (const { path, name, told } of results) {
    const operation = operations.find((each) => each.name === name);
    if (operation === undefined || !isExpected(operation, told)) {
      throw new Error(`${name} of ${path}: ${JSON.stringify(told)}`);
    }
    expect(JSON.stringify(told)).not.toContain(yard.place);
  }
}

const mayMakeDevices = ((): boolean => {
  using yard = createYard();
  return make(["mknod", join(yard.root, "zero"), "c", "1", "5"]);
})();

describe.each(ways)("what is no regular file, by %s", (way) => {
  test("a FIFO that nobody writes, one that somebody has open, and a socket: told, and none hangs", async () => {
    using yard = createYard();
    for (const name of [...names("fifo"), ...names("held")]) expect(make(["mkfifo", join(yard.root, name)])).toBe(true);
    // Open for both ends, so that an open of either would succeed at once, and a read would wait.
    const holder = Bun.spawn(["sh", "-c", 'exec 3<>"$1"; read -r line', "sh", join(yard.root, "held")], {
      stdin: "pipe",
    });
    const servers = names("socket").map((name) => createServer().listen(join(yard.root, name)));
    try {
      while (servers.some((_, i) => !existsSync(join(yard.root, names("socket")[i] ?? "")))) await Bun.sleep(1);
      await tryAll(yard, way, ["fifo", "held", "socket"]);
      expect(lstatSync(join(yard.root, "fifo")).isFIFO()).toBe(true);
    } finally {
      for (const server of servers) server.close();
      holder.kill("SIGKILL");
      await holder.exited;
    }
    yard.expectUntouched();
  }, 240_000);

  test.skipIf(!mayMakeDevices)(
    "devices such as /dev/zero, behind a name of the root: told, and none is read without end",
    async () => {
      using yard = createYard();
      for (const [name, numbers] of [
        ["zero", ["c", "1", "5"]],
        ["null", ["c", "1", "3"]],
        ["tty", ["c", "5", "0"]],
        ["disk", ["b", "240", "0"]],
      ] as const) {
        for (const each of names(name)) expect(make(["mknod", join(yard.root, each), ...numbers])).toBe(true);
      }
      await tryAll(yard, way, ["zero", "null", "tty", "disk"]);
      yard.expectUntouched();
    },
    240_000,
  );
});
