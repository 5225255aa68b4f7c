import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
import * as node from "node:fs";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Volume } from "memfs";
import { createSystem, systemClock } from "../../../../src";
import { createManualClock, simulate } from "../../../../src/testing";
import { resultOf, spawnFileSystem } from "../../../../src/tools";
import { type Machine, openRoot, thisMachine } from "../../../../src/tools/files/root/open-root";
import { Status } from "../../../../src/tools/files/root/root";
import type { Volume as Served } from "../../../../src/tools/files/root/volume";
import { tmpdir } from "../tmpdir";
import { everyWay, ways, withFiles } from "../ways";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(realpathSync(tmpdir()), "envoi-open-"));
  mkdirSync(join(directory, "root"));
  writeFileSync(join(directory, "file"), "");
});
afterAll(() => rmSync(directory, { recursive: true }));

const open = (options: Parameters<typeof openRoot>[0], machine?: Machine) => {
  const root = openRoot(options, systemClock, machine);
  root.dispose();
  return root.resolution;
};
const at = (name: string): { root: string } => ({ root: join(directory, name) });
const linux = process.platform === "linux";
const nothing: Machine = { platform: "linux", libc: undefined, flock: null };

describe.if(linux)("which root is opened", () => {
  const here = thisMachine();

  test.if(ways.includes("openat2"))("the kernel's where it can be", () => {
    expect(open(at("root"))).toBe("openat2");
    expect(open({ ...at("root"), resolution: "openat2" })).toBe("openat2");
  });

  test("that of /proc where the C library cannot be called, or it is asked for", () => {
    if (here.flock !== null) expect(open(at("root"), { ...here, libc: undefined })).toBe("proc-fd");
    expect(open({ ...at("root"), resolution: "proc-fd" })).toBe("proc-fd");
  });

  test("that of /proc where the kernel refuses openat2", () => {
    const { libc } = here;
    if (libc === undefined) return;
    // As under seccomp: the call itself fails. (A plain function has no mark of the FFI, which nothing looks at.)
    const refusing = { ...here, libc: { ...libc, openat2: () => -1, errno: () => 38 } } as unknown as Machine;
    expect(open(at("root"), refusing)).toBe("proc-fd");
    expect(() => open({ ...at("root"), resolution: "openat2" }, refusing)).toThrow(/openat2: .*errno 38/);
  });

  test("none where there is none, and why not is told of each", () => {
    expect(() => open(at("root"), nothing)).toThrow(/openat2: .*bun:ffi.*proc-fd: .*flock/);
    expect(() => open({ ...at("root"), resolution: "openat2" }, nothing)).toThrow(/\(openat2: [^;]*\)/);
  });

  test.if(canUnshare())("none but the kernel's where /proc is hidden, or is not the real one", () => {
    const program = join(import.meta.dir, "../programs/open-root.ts");
    for (const hidden of ["empty", "false"]) {
      const args = ["-m", process.execPath, program, join(directory, "root"), hidden];
      const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8" });
      expect(stderr).toBe("");
      expect(stdout).toContain("openat2: opened");
      expect(stdout).toMatch(/proc-fd: .*\/proc is not mounted/);
    }
  });

  test("no file actor starts without one", async () => {
    await using system = createSystem();
    expect(() => spawnFileSystem(system, at("missing"))).toThrow(/make the directory first/);
  });
});

test.each(["darwin", "win32", "freebsd"])("%s has none, and is told what to do", (platform) => {
  expect(() => open(at("root"), { ...nothing, platform })).toThrow(
    new RegExp(`openat2: it needs Linux, and this is ${platform}; proc-fd: .*container.*volume`),
  );
  const volume = Volume.fromJSON({ "/a": "" });
  expect(open({ root: "/", volume }, { ...nothing, platform })).toBe("memory");
});

test.each([...everyWay])("by %s, the actor tells how it resolves", (way) =>
  withFiles(way, async ({ files }) => {
    expect(resultOf(await files.ask("inspect"))._unsafeUnwrap()).toMatchObject({ resolution: way });
  }),
);

describe.each(["openat2", "proc-fd"] as const)("the directory of a root by %s", (resolution) => {
  const isThere = ways.includes(resolution);

  test.if(isThere)("must be there, and be a directory", () => {
    expect(() => open({ ...at("missing"), resolution })).toThrow(/missing".*make the directory first/);
    expect(() => open({ ...at("file"), resolution })).toThrow(/file".*is no directory/);
    expect(() => open({ ...at("file/x"), resolution })).toThrow(/cannot be opened/);
    symlinkSync("nowhere", join(directory, "dangling"));
    expect(() => open({ ...at("dangling"), resolution })).toThrow(/cannot be opened/);
    rmSync(join(directory, "dangling"));
    execFileSync("mkfifo", [join(directory, "fifo")]);
    expect(() => open({ ...at("fifo"), resolution })).toThrow(/no directory/);
    rmSync(join(directory, "fifo"));
  });

  test.if(isThere)("may be a link, which is followed once, at the start", () => {
    writeFileSync(join(directory, "root", "f"), "");
    mkdirSync(join(directory, "other"));
    symlinkSync("root", join(directory, "link"));
    const root = openRoot({ ...at("link"), resolution }, systemClock);
    rmSync(join(directory, "link"));
    symlinkSync("other", join(directory, "link"));
    expect(root.statAt(root.top, "f", new Status())).toBe(0);
    root.dispose();
    for (const name of ["link", "other", "root/f"]) rmSync(join(directory, name), { recursive: true });
  });

  test.if(isThere)("is not what its descriptor's number means once it is closed", () => {
    const root = openRoot({ ...at("root"), resolution }, systemClock);
    const before = root.top;
    root.dispose();
    const other = openRoot({ root: directory, resolution }, systemClock);
    expect(other.top).toBe(before);
    expect(root.open("", "place")).toBeLessThan(0);
    expect(root.openAt(root.top, "file", "read")).toBeLessThan(0);
    other.dispose();
  });
});

describe("a root in memory", () => {
  test("is a directory of the volume, and may be reached through a link", () => {
    const volume = Volume.fromJSON({ "/a/b/f": "text" });
    volume.symlinkSync("a/b", "/link");
    expect(open({ root: "/a/b", volume })).toBe("memory");
    expect(() => open({ root: "/c", volume })).toThrow(/make the directory first/);
    expect(() => open({ root: "/a/b/f", volume })).toThrow(/no directory/);
    const root = openRoot({ root: "/link", volume }, systemClock);
    expect(root.statAt(root.top, "f", new Status())).toBe(0);
    root.dispose();
  });

  test("is not that of the machine, which it would serve without a defence; and has every call", () => {
    const root = tmpdir();
    const machine: unknown[] = [node, { ...node }];
    for (const volume of machine) {
      expect(() => open({ root, volume: volume as Served })).toThrow(/in memory, such as memfs.*leave it out/);
    }
    expect(() => open({ root, volume: { ...node, openSync: undefined } as unknown as Served })).toThrow(
      /openSync is missing/,
    );
    for (const none of [null, {}, 7, "memfs"]) {
      expect(() => open({ root, volume: none as unknown as Served })).toThrow(/^A volume has the calls of node:fs/);
    }
  });

  test("has the times of the actor's clock", async () => {
    const clock = createManualClock();
    const volume = Volume.fromJSON({ "/old": "text" });
    const root = openRoot({ root: "/", volume }, clock);
    const start = clock.wallTime();
    const status = new Status();
    await clock.advance(1_000);
    root.statAt(root.top, "old", status);
    expect(status.modified).toBe(start);
    const file = root.open("new", "writeOrCreate");
    root.write(file, Buffer.from("x"), 1);
    await clock.advance(500);
    root.chmod(file, 0o600);
    root.stat(file, status);
    expect(status.modified).toBe(start + 1_000);
    expect(status.changed).toBe(start + 1_500);
    volume.writeFileSync("/new", "by others");
    root.stat(file, status);
    expect(status.modified).toBe(start + 1_500);
    root.dispose();
  });

  test("repeats itself in a simulation, and shows nothing but the files", async () => {
    const run = async (): Promise<readonly string[]> => {
      const lines: string[] = [];
      await simulate(
        async ({ system }) => {
          const volume = Volume.fromJSON({ "/files/a": "1" });
          const files = spawnFileSystem(system, { root: "/files", volume });
          const asked = [..."abcabc"].map((path, i) =>
            i % 2 === 0
              ? files.ask("write", { path, content: `${i}`.repeat(i * 50_000) })
              : files.ask("append", { path, content: "more" }),
          );
          for (const answer of await Promise.all(asked)) expect(answer.isOk() && answer.value.ok).toBe(true);
          expect(Object.keys(volume.toJSON()).sort()).toEqual(["/files/a", "/files/b", "/files/c"]);
        },
        { seeds: 5, trace: (line) => void lines.push(line) },
      );
      return lines;
    };
    const first = await run();
    expect(first.length).toBeGreaterThan(5);
    expect(await run()).toEqual(first);
  });
});

function canUnshare(): boolean {
  return linux && spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/proc"]).status === 0;
}
