import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { type EntryKind, type Name, type Opening, type Root, Status } from "../../../../src/tools/files/root/root";
import { openBelow, rootWays, withRoot } from "../ways";

const { ENOENT, EEXIST, ELOOP, ENOTDIR, EISDIR, ENOTEMPTY, EINVAL, ENXIO, ENAMETOOLONG, EAGAIN, EXDEV } =
  constants.errno;
const OPENINGS: readonly Opening[] = ["place", "directory", "read", "write", "writeOrCreate", "append"];
const onDisk = rootWays.filter((way) => way !== "memory");

/** Opens, and closes again what could be opened: 0 or a negated errno. */
function tryOpen(root: Root, path: string, opening: Opening): number {
  const opened = root.open(path, opening);
  if (opened < 0) return opened;
  root.close(opened);
  return 0;
}

function textOf(root: Root, path: string): string {
  const file = root.open(path, "read");
  if (file < 0) return `errno ${-file}`;
  const bytes = Buffer.alloc(100);
  const length = root.read(file, bytes, bytes.length, 0);
  root.close(file);
  return bytes.toString("utf8", 0, length);
}

function namesIn(root: Root, path: string): Map<string | Buffer, EntryKind | undefined> {
  const names = new Map<string | Buffer, EntryKind | undefined>();
  const directory = root.open(path, "directory");
  expect(directory).toBeGreaterThanOrEqual(0);
  const note = (name: Name, kind: EntryKind | undefined): void =>
    void names.set(typeof name === "string" ? name : Buffer.from(name), kind);
  while (root.entries(directory, note) > 0);
  expect(root.entries(directory, note)).toBe(0); // The end stays the end.
  root.close(directory);
  return names;
}

describe.each([...rootWays])("a root by %s", (way) => {
  const promise = (name: string, body: (root: Root, directory: string, disk: Disk) => void | Promise<void>): void =>
    test(name, () => withRoot(way, body));
  type Disk = Parameters<Parameters<typeof withRoot>[1]>[2];

  promise("opens what is there, and tells what is missing", (root, directory, disk) => {
    disk.mkdirSync(`${directory}/a/b`, { recursive: true });
    disk.writeFileSync(`${directory}/a/b/c.txt`, "text");
    expect(textOf(root, "a/b/c.txt")).toBe("text");
    for (const opening of ["place", "directory"] as const) {
      expect(tryOpen(root, "", opening)).toBe(0);
      expect(tryOpen(root, "a/b", opening)).toBe(0);
      expect(tryOpen(root, "a/b/c.txt", opening)).toBe(-ENOTDIR);
      expect(tryOpen(root, "a/missing", opening)).toBe(-ENOENT);
    }
    expect(tryOpen(root, "a/missing", "read")).toBe(-ENOENT);
    expect(tryOpen(root, "missing/c.txt", "read")).toBe(-ENOENT);
    expect(tryOpen(root, "a/b/c.txt/d", "read")).toBe(-ENOTDIR);
    expect(tryOpen(root, "a/b/c.txt/d/e", "create")).toBe(-ENOTDIR);
    for (const opening of ["write", "writeOrCreate", "append"] as const)
      expect(tryOpen(root, "a/b", opening)).toBe(-EISDIR);
    expect(tryOpen(root, "a/b", "create")).toBe(-EEXIST);
  });

  promise("makes a file only where it is asked to", (root, directory, disk) => {
    for (const opening of ["read", "write", "append"] as const) expect(tryOpen(root, "f", opening)).toBe(-ENOENT);
    expect(tryOpen(root, "f", "create")).toBe(0);
    expect(tryOpen(root, "f", "create")).toBe(-EEXIST);
    expect(tryOpen(root, "g", "writeOrCreate")).toBe(0);
    expect(tryOpen(root, "g", "writeOrCreate")).toBe(0);
    expect(disk.readdirSync(directory).sort()).toEqual(["f", "g"]);
    const umask = way === "memory" ? 0 : process.umask();
    expect(disk.lstatSync(`${directory}/f`).mode & 0o777).toBe(0o666 & ~umask);
  });

  promise(
    "follows no link: in the middle, at the end, relative, absolute, chained, dangling or looping",
    (root, directory, disk) => {
      disk.mkdirSync(`${directory}/real`);
      disk.writeFileSync(`${directory}/real/file`, "text");
      const links = {
        relative: "real",
        absolute: `${directory}/real`,
        chained: "relative",
        upwards: "..",
        dangling: "nowhere",
        loop: "loop",
        toFile: "real/file",
      };
      for (const [name, target] of Object.entries(links)) disk.symlinkSync(target, `${directory}/${name}`);
      for (const name of Object.keys(links)) {
        for (const opening of OPENINGS) {
          expect([name, opening, tryOpen(root, name, opening)]).toEqual([name, opening, -ELOOP]);
          expect([name, opening, tryOpen(root, `${name}/file`, opening)]).toEqual([name, opening, -ELOOP]);
          expect([name, opening, tryOpen(root, `${name}/deeper/file`, opening)]).toEqual([name, opening, -ELOOP]);
          const at = root.openAt(root.top, name, opening);
          expect(at).toBe(-ELOOP);
        }
        expect(tryOpen(root, name, "create")).toBe(-EEXIST);
        const status = new Status();
        expect(root.statAt(root.top, name, status)).toBe(0);
        expect(status.kind).toBe("link");
        expect(root.makeDirectory(root.top, name, 0o777)).toBe(-EEXIST);
        expect(root.removeDirectory(root.top, name)).toBe(-ENOTDIR);
      }
      expect(disk.readdirSync(directory).sort()).toEqual([...Object.keys(links), "real"].sort());
      for (const name of Object.keys(links)) expect(root.unlink(root.top, name)).toBe(0);
      expect(disk.readFileSync(`${directory}/real/file`, "utf8")).toBe("text");
    },
  );

  // The other ways are only ever handed names that were looked through; the kernel's looks itself.
  if (way === "openat2") {
    promise("opens nothing above it, whatever a name says", (root, directory, disk) => {
      disk.mkdirSync(`${directory}/a`);
      const at = root.open("a", "place");
      for (const opening of [...OPENINGS, "create"] as const) {
        for (const name of ["..", "../..", "../a/../..", "x/../../..", "/etc/passwd", Buffer.from("..")]) {
          expect([name, opening, root.openAt(at, name, opening)]).toEqual([
            name,
            opening,
            name[0] === "x" ? -ENOENT : -EXDEV,
          ]);
        }
        for (const path of ["..", "../outside", "a/../.."]) expect(tryOpen(root, path, opening)).toBe(-EXDEV);
      }
      root.close(at);
    });
  }

  promise("reads and writes where it is told", (root, directory, disk) => {
    const file = root.openAt(root.top, "f", "create");
    expect(root.write(file, Buffer.from("abcdef"), 3)).toBe(3);
    expect(root.write(file, Buffer.from("xyz"), 3)).toBe(3);
    root.close(file);
    expect(disk.readFileSync(`${directory}/f`, "utf8")).toBe("abcxyz");
    const appended = root.open("f", "append");
    expect(root.write(appended, Buffer.from("!"), 1)).toBe(1);
    expect(root.truncate(appended, 5)).toBe(0);
    expect(root.write(appended, Buffer.from("?"), 1)).toBe(1);
    root.close(appended);
    const reading = root.open("f", "read");
    const bytes = Buffer.alloc(8);
    expect(root.read(reading, bytes, 3, 1)).toBe(3);
    expect(bytes.toString("utf8", 0, 3)).toBe("bcx");
    expect(root.read(reading, bytes, 8, 4)).toBe(2);
    expect(bytes.toString("utf8", 0, 2)).toBe("y?");
    expect(root.read(reading, bytes, 8, 6)).toBe(0);
    expect(root.read(reading, bytes, 8, 1_000_000)).toBe(0);
    root.close(reading);
    const over = root.open("f", "write");
    expect(root.write(over, Buffer.from("ABC"), 1)).toBe(1);
    root.close(over);
    expect(textOf(root, "f")).toBe("Abcxy?");
    const place = root.open("", "place");
    expect(root.read(place, bytes, 8, 0)).toBeLessThan(0);
    root.close(place);
  });

  promise("tells what a file is", async (root, directory, disk) => {
    disk.mkdirSync(`${directory}/d`);
    disk.writeFileSync(`${directory}/f`, "12345");
    disk.linkSync(`${directory}/f`, `${directory}/g`);
    const [byName, open] = [new Status(), new Status()];
    const file = root.open("f", "write");
    if (way !== "memory") utimesSync(`${directory}/f`, 1, 2.5); // The content is older than the rights.
    expect(root.chmod(file, 0o640)).toBe(0);
    expect(root.statAt(root.top, "f", byName)).toBe(0);
    expect(root.stat(file, open)).toBe(0);
    expect(byName).toEqual(open);
    expect(open).toMatchObject({ kind: "file", size: 5, mode: 0o640, links: 2 });
    expect(root.statAt(root.top, "g", byName)).toBe(0);
    expect(byName.inode).toBe(open.inode);
    if (way !== "memory") {
      const { ino, dev, mtimeMs, ctimeMs } = disk.lstatSync(`${directory}/f`);
      expect([open.inode, open.device, open.modified]).toEqual([ino, dev, 2_500]);
      expect(open.modified).toBeCloseTo(mtimeMs, 2);
      expect(open.changed).toBeCloseTo(ctimeMs, 2);
    }
    expect(await root.sync(file)).toBe(0);
    root.close(file);
    const place = root.open("d", "place");
    expect(root.stat(place, open)).toBe(0);
    expect(open.kind).toBe("directory");
    root.close(place);
    expect(root.statAt(root.top, "missing", open)).toBe(-ENOENT);
  });

  promise("a change never keeps the time of change that a file had", (root, directory, disk) => {
    disk.writeFileSync(`${directory}/f`, "12345");
    const [before, after] = [new Status(), new Status()];
    const file = root.open("f", "write");
    root.stat(file, before);
    if (way !== "memory") Bun.sleepSync(20); // The kernel's clock for files goes in ticks.
    root.write(file, Buffer.from("x"), 1);
    root.stat(file, after);
    root.close(file);
    expect(after.changed).toBeGreaterThan(before.changed);
  });

  promise("lists 5,000 names, each once, with what they are", (root, directory, disk) => {
    for (let i = 0; i < 5_000; i++) disk.writeFileSync(`${directory}/file ${i}`, "");
    disk.mkdirSync(`${directory}/directory`);
    disk.symlinkSync("nowhere", `${directory}/link`);
    disk.writeFileSync(`${directory}/.hidden`, "");
    disk.writeFileSync(`${directory}/...`, "");
    disk.writeFileSync(`${directory}/..a`, "");
    const names = namesIn(root, "");
    expect(names.size).toBe(5_005);
    for (let i = 0; i < 5_000; i++) expect(names.get(`file ${i}`)).toBe("file");
    expect(names.get("directory")).toBe("directory");
    expect(names.get("link")).toBe("link");
    for (const name of [".hidden", "...", "..a"]) expect(names.get(name)).toBe("file");
  });

  promise(
    "lists an empty directory, and reads a directory that two have open for each of them",
    (root, directory, disk) => {
      disk.mkdirSync(`${directory}/empty`);
      expect(namesIn(root, "empty").size).toBe(0);
      const [first, second] = [root.open("", "directory"), root.open("", "directory")];
      expect(root.entries(first, () => {})).toBe(1);
      expect(root.entries(second, () => {})).toBe(1);
      root.close(first);
      expect(root.entries(second, () => {})).toBe(0);
      root.close(second);
      expect(namesIn(root, "").size).toBe(1);
    },
  );

  promise("takes names of 255 bytes and of many letters, and none that is longer", (root, _directory, disk) => {
    const names = [
      "a".repeat(255),
      "é".repeat(127),
      "語".repeat(85),
      "😀".repeat(63),
      "e\u0301",
      "\u202Ex",
      "a\\b",
      " ",
    ];
    for (const name of names) {
      expect(tryOpen(root, name, "create")).toBe(0);
      expect(tryOpen(root, name, "read")).toBe(0);
    }
    expect([...namesIn(root, "").keys()].sort()).toEqual([...names].sort());
    expect(tryOpen(root, "\u00e9", "read")).toBe(-ENOENT); // Not the same as e with an accent.
    if (way === "memory") return;
    expect(tryOpen(root, "a".repeat(256), "create")).toBe(-ENAMETOOLONG);
    expect(root.statAt(root.top, "語".repeat(86), new Status())).toBe(-ENAMETOOLONG);
    expect(disk.existsSync("/")).toBe(true);
  });

  promise("opens a path of 4,095 bytes; what does not fit is refused and not cut", (root) => {
    let at = root.top;
    const name = "語".repeat(42); // 126 bytes
    for (let depth = 0; depth < 32; depth++) {
      expect(root.makeDirectory(at, name, 0o777)).toBe(0);
      const next = root.openAt(at, name, "place");
      if (at !== root.top) root.close(at);
      at = next;
    }
    const whole = Array(32).fill(name).join("/"); // 32 × 126 + 31 = 4,063 bytes
    for (const end of ["x".repeat(31), "x"]) {
      root.close(root.openAt(at, end, "create"));
      expect(tryOpen(root, `${whole}/${end}`, "read")).toBe(0);
    }
    // Cut to 4,095 bytes or less this is "x…x", which is there.
    if (way === "openat2") {
      expect(tryOpen(root, `${whole}/${"x".repeat(31)}語`, "read")).toBe(-ENAMETOOLONG);
      expect(tryOpen(root, `${whole}/${"x".repeat(32)}`, "read")).toBe(-ENAMETOOLONG);
    } else {
      expect(tryOpen(root, `${whole}/${"x".repeat(31)}語`, "read")).toBe(-ENOENT);
    }
    root.close(at);
  });

  promise("makes and removes directories", (root, directory, disk) => {
    expect(root.makeDirectory(root.top, "d", 0o700)).toBe(0);
    expect(disk.lstatSync(`${directory}/d`).mode & 0o777).toBe(0o700);
    expect(root.makeDirectory(root.top, "d", 0o700)).toBe(-EEXIST);
    const at = root.open("d", "place");
    root.close(root.openAt(at, "f", "create"));
    expect(root.makeDirectory(at, "f", 0o777)).toBe(-EEXIST);
    expect(root.removeDirectory(root.top, "d")).toBe(-ENOTEMPTY);
    expect(root.unlink(root.top, "d")).toBe(-EISDIR);
    expect(root.removeDirectory(at, "f")).toBe(-ENOTDIR);
    expect(root.unlink(at, "f")).toBe(0);
    expect(root.unlink(at, "f")).toBe(-ENOENT);
    expect(root.removeDirectory(at, "f")).toBe(-ENOENT);
    expect(root.removeDirectory(root.top, "d")).toBe(0);
    expect(root.openAt(at, "f", "create")).toBe(-ENOENT);
    expect(root.makeDirectory(at, "f", 0o777)).toBe(-ENOENT);
    root.close(at);
  });

  promise("knows of an open directory whether it is still at its path", (root, directory, disk) => {
    disk.mkdirSync(`${directory}/a/b/c`, { recursive: true });
    disk.mkdirSync(`${directory}/other`);
    expect([root.isInPlace("", root.top), root.isInPlace("a", root.top)]).toEqual([true, false]);
    const at = root.open("a/b/c", "place");
    const isIn = (...paths: string[]): boolean[] => paths.map((path) => root.isInPlace(path, at));
    expect(isIn("a/b/c", "a/b", "a/b/c/d", "b/c", "", "x/b/c", "a/b/c ")).toEqual([true, ...Array(6).fill(false)]);
    expect(root.rename(root.top, "a", root.top, "moved", false)).toBe(0);
    expect(isIn("a/b/c", "moved/b/c")).toEqual([false, true]);
    disk.symlinkSync("moved", `${directory}/a`);
    expect(isIn("a/b/c", "moved/b/c")).toEqual([false, true]);
    root.close(at);
    const other = root.open("other", "place");
    disk.rmSync(`${directory}/other`, { recursive: true });
    for (const path of ["other", "other (deleted)"]) expect([path, root.isInPlace(path, other)]).toEqual([path, false]);
    root.close(other);
  });

  promise("a directory that is deleted while it is listed is told as missing, or as empty", (root, directory, disk) => {
    disk.mkdirSync(`${directory}/d`);
    const listed = root.open("d", "directory");
    disk.rmSync(`${directory}/d`, { recursive: true });
    expect([0, -ENOENT]).toContain(root.entries(listed, () => {}));
    root.close(listed);
  });

  promise("what is open stays what it is where directories are moved", (root, directory, disk) => {
    disk.mkdirSync(`${directory}/d/e`, { recursive: true });
    const at = root.open("d/e", "place");
    expect(root.rename(root.top, "d", root.top, "moved", false)).toBe(0);
    disk.mkdirSync(`${directory}/d/e`, { recursive: true });
    root.close(root.openAt(at, "f", "create"));
    expect(disk.existsSync(`${directory}/moved/e/f`)).toBe(true);
    expect(disk.existsSync(`${directory}/d/e/f`)).toBe(false);
    root.close(at);
  });

  promise("renames, and replaces as POSIX says", (root, directory, disk) => {
    const write = (name: string): void => disk.writeFileSync(`${directory}/${name}`, name);
    for (const name of ["a", "b"]) write(name);
    for (const name of ["d", "empty", "full"]) disk.mkdirSync(`${directory}/${name}`);
    write("full/f");
    const { top } = root;
    expect(root.rename(top, "a", top, "b", true)).toBe(0);
    expect(textOf(root, "b")).toBe("a");
    expect(tryOpen(root, "a", "read")).toBe(-ENOENT);
    expect(root.rename(top, "b", top, "d", true)).toBe(-EISDIR);
    expect(root.rename(top, "d", top, "b", true)).toBe(-ENOTDIR);
    expect(root.rename(top, "d", top, "full", true)).toBe(-ENOTEMPTY);
    expect(root.rename(top, "full", top, "empty", true)).toBe(0);
    expect(textOf(root, "empty/f")).toBe("full/f");
    expect(root.rename(top, "missing", top, "b", true)).toBe(-ENOENT);
    const at = root.open("d", "place");
    expect(root.rename(top, "d", at, "inside", true)).toBe(-EINVAL);
    expect(root.rename(top, "b", at, "b", true)).toBe(0);
    expect(textOf(root, "d/b")).toBe("a");
    root.close(at);
    disk.symlinkSync("d/b", `${directory}/link`);
    write("c");
    expect(root.rename(top, "c", top, "link", true)).toBe(0);
    expect(textOf(root, "link")).toBe("c");
    expect(textOf(root, "d/b")).toBe("a");
  });

  promise("renames to a name that is free, and to no other", (root, directory, disk) => {
    const { top } = root;
    disk.writeFileSync(`${directory}/a`, "a");
    disk.mkdirSync(`${directory}/d`);
    disk.writeFileSync(`${directory}/d/f`, "f");
    disk.mkdirSync(`${directory}/empty`);
    disk.symlinkSync("nowhere", `${directory}/link`);
    for (const name of ["a", "d", "link"]) {
      for (const taken of ["a", "d", "empty", "link"]) {
        expect([name, taken, root.rename(top, name, top, taken, false)]).toEqual([name, taken, -EEXIST]);
      }
    }
    for (const name of ["a", "d", "link"]) expect(root.rename(top, name, top, `new ${name}`, false)).toBe(0);
    expect(root.rename(top, "missing", top, "free", false)).toBe(-ENOENT);
    const at = root.open("new d", "place");
    expect(root.rename(top, "new d", at, "inside", false)).toBe(-EINVAL);
    root.close(at);
    expect(disk.readdirSync(directory).sort()).toEqual(["empty", "new a", "new d", "new link"]);
    expect(disk.readdirSync(`${directory}/new d`)).toEqual(["f"]);
    const status = new Status();
    root.statAt(top, "new a", status);
    expect(status.links).toBe(1);
  });

  promise("the lock of a file is had by one at a time", (root) => {
    const [first, second] = [root.open("lock", "writeOrCreate"), root.open("lock", "writeOrCreate")];
    expect(root.lock(first)).toBe(0);
    if (way !== "memory") expect(root.lock(second)).toBe(-EAGAIN);
    root.unlock(first);
    expect(root.lock(second)).toBe(0);
    root.unlock(second);
    root.close(first);
    root.close(second);
  });

  promise("what is not open is told, and nothing throws", (root) => {
    const bytes = Buffer.alloc(1);
    const none = 1_000_000;
    expect(root.read(none, bytes, 1, 0)).toBeLessThan(0);
    expect(root.write(none, bytes, 1)).toBeLessThan(0);
    expect(root.truncate(none, 0)).toBeLessThan(0);
    expect(root.chmod(none, 0)).toBeLessThan(0);
    expect(root.stat(none, new Status())).toBeLessThan(0);
    expect(root.entries(none, () => {})).toBeLessThan(0);
    expect(root.openAt(none, "x", "read")).toBeLessThan(0);
    expect(root.makeDirectory(none, "x", 0o777)).toBeLessThan(0);
    root.close(none);
  });
});

describe.each([...onDisk])("a root on the disk by %s", (way) => {
  test("a name is the one that is given, whatever was named before", () =>
    withRoot(way, (root, directory) => {
      const bytes = Buffer.from([0x66, 0xe9]);
      const status = new Status();
      for (const [size, name] of ["a", "a name", bytes].entries()) {
        const file = root.openAt(root.top, name, "create");
        expect(root.write(file, Buffer.alloc(size), size)).toBe(size);
        root.close(file);
      }
      const sizeOf = (name: Name): number => root.statAt(root.top, name, status) || status.size;
      const openedSizeOf = (name: Name): number => {
        const file = root.openAt(root.top, name, "read");
        const size = file < 0 ? file : root.stat(file, status) || status.size;
        if (file >= 0) root.close(file);
        return size;
      };
      const tooLong = "/a".repeat(3_000);
      for (const ofName of [sizeOf, openedSizeOf]) {
        const sizes = ["a name", "a", "a", bytes, "a", tooLong, "a", "a name"].map(ofName);
        expect(sizes).toEqual([1, 0, 0, 2, 0, -ENAMETOOLONG, 0, 1]);
        bytes[1] = 0xea; // The same bytes no more.
        expect(ofName(bytes)).toBe(-ENOENT);
        bytes[1] = 0xe9;
      }
      expect(root.rename(root.top, "a name", root.top, "a", true)).toBe(0);
      expect(root.rename(root.top, "a", root.top, "a name", true)).toBe(0);
      expect([sizeOf("a"), sizeOf("a name"), readdirSync(directory).length]).toEqual([-ENOENT, 1, 2]);
    }));

  test("a directory that was moved to a name that only looks the same is not in its place", () =>
    withRoot(way, (root, directory) => {
      mkdirSync(`${directory}/\uFFFD`);
      const at = root.open("\uFFFD", "place");
      expect(root.isInPlace("\uFFFD", at)).toBe(true);
      // Three bytes that are no UTF-8, and are shown as that letter.
      renameSync(`${directory}/\uFFFD`, Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xf0, 0x90, 0x80])]));
      expect(root.isInPlace("\uFFFD", at)).toBe(false);
      root.close(at);
    }));

  test("names that are no UTF-8 come as bytes, and open", () =>
    withRoot(way, (root, directory) => {
      const odd = [Buffer.from([0xff, 0xfe]), Buffer.from([0x61, 0x80]), Buffer.from("\uFFFD")];
      const path = (name: Buffer): Buffer => Buffer.concat([Buffer.from(`${directory}/`), name]);
      for (const name of odd) writeFileSync(path(name), "odd");
      writeFileSync(`${directory}/even`, "");
      const found: Buffer[] = [];
      const listed = root.open("", "directory");
      const names: Name[] = [];
      while (root.entries(listed, (name) => names.push(name)) > 0);
      root.close(listed);
      for (const name of names) {
        const status = new Status();
        expect(root.statAt(root.top, name, status)).toBe(0);
        expect(status.kind).toBe("file");
        const file = root.openAt(root.top, name, "read");
        expect(file).toBeGreaterThanOrEqual(0);
        root.close(file);
        found.push(Buffer.from(name as string));
      }
      expect(found.map((name) => name.toString("hex")).sort()).toEqual(
        [...odd, Buffer.from("even")].map((name) => name.toString("hex")).sort(),
      );
      for (const name of names) {
        expect(root.rename(root.top, name, root.top, "moved", true)).toBe(0);
        expect(root.rename(root.top, "moved", root.top, name, false)).toBe(0);
        expect(root.unlink(root.top, name)).toBe(0);
      }
      expect(readdirSync(directory)).toEqual([]);
    }));

  test("FIFOs, sockets and devices do not block, and are told from files", () =>
    withRoot(way, (root, directory) => {
      execFileSync("mkfifo", [`${directory}/fifo`]);
      const isRoot = process.getuid?.() === 0;
      if (isRoot) execFileSync("mknod", [`${directory}/zero`, "c", "1", "5"]);
      using _socket = { [Symbol.dispose]: listen(`${directory}/socket`) };
      const status = new Status();
      for (const name of ["fifo", "socket", ...(isRoot ? ["zero"] : [])]) {
        expect(root.statAt(root.top, name, status)).toBe(0);
        expect(status.kind).toBe("other");
        for (const opening of OPENINGS) {
          const opened = root.open(name, opening);
          if (opened < 0) continue;
          root.stat(opened, status);
          expect(status.kind).toBe("other");
          root.close(opened);
        }
        expect(tryOpen(root, `${name}/x`, "read")).toBe(-ENOTDIR);
      }
      expect(tryOpen(root, "fifo", "write")).toBe(-ENXIO);
      expect(tryOpen(root, "socket", "read")).toBe(-ENXIO);
      const kinds = namesIn(root, "");
      expect(kinds.get("fifo")).toBe("other");
      expect(kinds.get("socket")).toBe("other");
    }));

  test("links of /proc lead nowhere", () =>
    withRoot(way, (_root, directory) => {
      symlinkSync("/proc/self/root", `${directory}/root`);
      expect(tryOpen(_root, "root/etc/passwd", "read")).toBe(-ELOOP);
      expect(tryOpen(_root, "root", "directory")).toBe(-ELOOP);
    }));

  test("a directory that is swapped for a link meanwhile leads nowhere", () =>
    withRoot(way, (root, directory) => {
      mkdirSync(`${directory}/d`);
      const at = root.open("d", "place");
      rmSync(`${directory}/d`, { recursive: true });
      symlinkSync("/etc", `${directory}/d`);
      expect(root.openAt(at, "passwd", "read")).toBe(-ENOENT);
      root.close(at);
    }));

  test("leaves nothing open, whatever goes wrong", () =>
    withRoot(way, (root, directory) => {
      mkdirSync(`${directory}/a/b`, { recursive: true });
      symlinkSync("a", `${directory}/link`);
      writeFileSync(`${directory}/a/b/f`, "");
      const before = openBelow(directory); // Other descriptors may be closed meanwhile, by what is collected.
      for (const path of ["", "a", "a/b", "a/b/f", "a/b/f/g", "a/x/y", "link", "link/b", "a/b/x"])
        for (const opening of OPENINGS) tryOpen(root, path, opening);
      root.rename(root.top, "a", root.top, "link", false);
      root.rename(root.top, "a", root.top, "a2", false);
      const lock = root.open("a2/b/x", "write");
      for (let i = 0; i < 3; i++) {
        root.lock(lock);
        root.unlock(lock);
      }
      root.close(lock);
      expect(openBelow(directory)).toEqual(before);
    }));

  test("nothing that is open is inherited by what is started meanwhile", () =>
    withRoot(way, (root, directory) => {
      mkdirSync(`${directory}/a`);
      const open = [root.top, ...(["place", "directory"] as const).map((opening) => root.open("a", opening))];
      for (const opening of ["create", "read", "write", "writeOrCreate", "append"] as const)
        open.push(root.open("f", opening));
      for (const descriptor of open) {
        expect(descriptor).toBeGreaterThanOrEqual(0);
        const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
        expect(Number.parseInt(flags ?? "", 8) & 0o2000000).toBe(0o2000000); // O_CLOEXEC
        if (descriptor !== root.top) root.close(descriptor);
      }
    }));
});

/** Binds a socket to a name; gives what closes it. */
function listen(path: string): () => void {
  const server = Bun.listen({ unix: path, socket: { data() {} } });
  return () => server.stop(true);
}
