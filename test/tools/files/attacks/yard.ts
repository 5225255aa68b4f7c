import { expect } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createSystem, type System, type SystemEvent } from "../../../../src";
import { type FileSystemOptions, type FileSystemRef, spawnFileSystem } from "../../../../src/tools";
import { tmpdir } from "../tmpdir";
import { ways as onDisk, openBelow } from "../ways";

/** The ways over the machine's own file system that this machine has. */
export const ways = onDisk.filter((way) => way !== "memory");
/** One of them. */
export type Way = (typeof ways)[number];

/** The content of each file outside of the root. No reply may ever show it. */
export const SECRET = "the-secret-of-the-outside";

/** A root with files, and beside it what nobody is to reach. */
export interface Yard {
  /** The directory that holds all of it. */
  readonly place: string;
  readonly root: string;
  readonly outside: string;
  /** Writes below the root, past the actor. */
  put(path: string, content: string | Uint8Array): string;
  /** Fails if anything outside of the root is not what it was. */
  expectUntouched(): void;
}

/** Makes a yard; `dispose` removes it. */
export function createYard(): Yard & Disposable {
  const place = mkdtempSync(join(realpathSync(tmpdir()), "envoi-attack-"));
  const root = join(place, "ws");
  const outside = join(place, "outside");
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "file.txt"), "inside");
  writeFileSync(join(root, "a/b/deep.txt"), "inside");
  mkdirSync(join(root, "c"));
  writeFileSync(join(root, "c/inner.txt"), "inside");
  mkdirSync(join(outside, "sub"), { recursive: true });
  for (const name of ["secret.txt", "file.txt", "sub/secret.txt", "sub/file.txt"]) {
    writeFileSync(join(outside, name), `${SECRET}\n`);
  }
  writeFileSync(join(outside, `${SECRET}.txt`), ""); // A list would show it.
  mkdirSync(join(place, "ws-secret")); // It shares the root's prefix.
  writeFileSync(join(place, "ws-secret/secret.txt"), `${SECRET}\n`);
  const around = (): string[] => snapshot(place, root);
  const before = around();
  return {
    place,
    root,
    outside,
    put(path, content) {
      const whole = join(root, path);
      mkdirSync(join(whole, ".."), { recursive: true });
      writeFileSync(whole, content);
      return whole;
    },
    expectUntouched: () => expect(around()).toEqual(before),
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** Every name below a directory, with its kind, content, rights, owner and times; `but` is left out. */
export function snapshot(directory: string, but = ""): string[] {
  return readdirSync(directory)
    .sort()
    .flatMap((name) => {
      const path = join(directory, name);
      if (path === but) return [];
      const status = lstatSync(path);
      const { mode, uid, gid, nlink, size } = status;
      const isDirectory = status.isDirectory();
      const content = status.isFile()
        ? readFileSync(path, "latin1")
        : status.isSymbolicLink()
          ? readlinkSync(path)
          : "";
      const changed = isDirectory && readdirSync(path).includes("ws") ? 0 : status.mtimeMs;
      const line = JSON.stringify([path, mode, uid, gid, isDirectory ? 0 : nlink, size, changed, content]);
      return [line, ...(isDirectory ? snapshot(path, but) : [])];
    });
}

/** A file actor over a yard, and all that its system said. */
export interface Serving {
  readonly files: FileSystemRef;
  readonly system: System;
  readonly events: readonly SystemEvent[];
}

/**
 * Runs an attack on a file actor; fails if the actor failed or began anew, if a message was lost, if anything outside of
 * the root was touched, or if the actor has left a file open. With `isMoved` the attack itself moves things there.
 */
export async function attack(
  yard: Yard,
  options: Partial<FileSystemOptions> & { resolution: Way },
  run: (serving: Serving) => Promise<void>,
  { isMoved = false } = {},
): Promise<void> {
  const events: SystemEvent[] = [];
  const quiet = { warn() {}, error() {} };
  {
    await using system = createSystem({ logger: quiet, askTimeout: 20_000 });
    system.events.subscribe((event) => events.push(event));
    const files = spawnFileSystem(system, { root: yard.root, ...options });
    await run({ files, system, events });
    const { accepted, handled, failed, dead, queued, running } = system.router.audit();
    expect(accepted).toBe(handled + failed + dead + queued + running);
  }
  const failures = events.filter(({ kind }) => kind === "failed" || kind === "restarted");
  expect(failures).toEqual([]);
  if (!isMoved) yard.expectUntouched();
  expect(openBelow(yard.place)).toEqual([]);
}
