import { dlopen, FFIType, ptr } from "bun:ffi";
import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";

// Swaps directories and a file of a root for links to what is outside, as fast as it can, and makes anew what others
// took away. It writes nothing through a name that may be a link. It ends with its standard input.

const [root = "", target = ""] = process.argv.slice(2);
process.chdir(root);
process.stdin.on("end", () => process.exit(0)).resume();

const AT_FDCWD = -100;
const EXCHANGE = 2;
const NUMBER = process.arch === "x64" ? 316 : 276; // renameat2

type Swap = (a: string, b: string) => boolean;

/** Both names at one moment, where there is FFI; else one after the other, through a third one. */
function swapping(): Swap {
  try {
    const { symbols } = dlopen("libc.so.6", {
      syscall: {
        args: [FFIType.i64, FFIType.i64, FFIType.ptr, FFIType.i64, FFIType.ptr, FFIType.i64],
        returns: FFIType.i64,
      },
    });
    const texts = new Map<string, Buffer>();
    const at = (name: string): ReturnType<typeof ptr> => {
      const text = texts.get(name) ?? Buffer.from(`${name}\0`);
      texts.set(name, text);
      return ptr(text);
    };
    return (a, b) => Number(symbols.syscall(NUMBER, AT_FDCWD, at(a), AT_FDCWD, at(b), EXCHANGE)) === 0;
  } catch {
    return dance;
  }
}

const dance: Swap = (a, b) => {
  try {
    renameSync(a, "aside");
    renameSync(b, a);
    renameSync("aside", b);
    return true;
  } catch {
    return false;
  }
};

const quietly = (work: () => void): void => {
  try {
    work();
  } catch {
    // Somebody else was first, or has taken it away: the next round makes it anew.
  }
};

let count = 0;

/** A directory as it is inside, made aside and put in its place. */
function makeDirectory(name: string): void {
  const aside = `made-${process.pid}-${count++}`;
  quietly(() => {
    mkdirSync(`${aside}/sub/inner`, { recursive: true });
    for (const file of ["file.txt", "secret.txt", "sub/file.txt", "sub/secret.txt", "sub/inner/file.txt"]) {
      writeFileSync(`${aside}/${file}`, "inside");
    }
    renameSync(aside, name);
  });
}

const makeLink = (name: string, to: string): void => quietly(() => symlinkSync(to, name));

const swap = swapping();
for (const [a, b] of [
  ["d", "d.link"],
  ["tree/x/inner", "inner.link"],
]) {
  if (a === undefined || b === undefined) continue;
  quietly(() => mkdirSync("tree/x", { recursive: true }));
  makeDirectory(a);
  makeLink(b, target);
}
writeFileSync("f.txt", "inside");
makeLink("f.link", `${target}/secret.txt`);
console.log("ready");

const turn = (): void => {
  for (let i = 0; i < 200; i++) {
    if (!swap("d", "d.link")) {
      quietly(() => unlinkSync("d.link"));
      makeDirectory("d");
      makeLink("d.link", target);
    }
    if (!swap("tree/x/inner", "inner.link")) {
      quietly(() => unlinkSync("inner.link"));
      quietly(() => mkdirSync("tree/x", { recursive: true }));
      makeDirectory("tree/x/inner");
      makeLink("inner.link", target);
    }
    if (!swap("f.txt", "f.link")) {
      quietly(() => writeFileSync("f.made", "inside", { flag: "wx" }));
      quietly(() => renameSync("f.made", "f.txt"));
      makeLink("f.link", `${target}/secret.txt`);
    }
    if (i % 16 === 0) quietly(() => (dance("d", "d.link") ? undefined : renameSync("aside", "d")));
  }
  setImmediate(turn); // Its input is read between the turns.
};
turn();
