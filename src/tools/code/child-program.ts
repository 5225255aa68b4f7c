import { existsSync } from "node:fs";
import { loadEmbedded } from "./load-embedded";

/** The program of a code actor's process or thread: the path of a file, or the text of the program. */
export type ChildProgram = string | ChildText;

/** A program that is passed as text, because no file contains it. */
export interface ChildText {
  readonly text: string;
}

/** The programs, and the folders of their sources. In the built package, all are in one folder. */
const FOLDERS = { "sandbox-worker": "sandbox", "process-worker": "process", "source-worker": "source" } as const;
type Name = keyof typeof FOLDERS;
type Texts = Readonly<Record<Name, ChildText>>;

/** In a compiled application, paths below these are read from the executable itself. No other process can read them. */
const INSIDE_EXECUTABLE = /^(?:\/\$bunfs\/|[A-Za-z]:[\\/]~BUN[\\/])/;
/** A file beside the programs in the built package. A user's bundle lacks it, but may well have a `process-worker.js`. */
const MARK = "./sandbox.image";

/** An environment variable that is set in each child. */
export const CHILD_MARK = "ENVOI_CHILD";

let texts: Texts | undefined;

/**
 * Finds a program: among the sources, in the built package, or embedded in a bundle or a compiled application.
 *
 * @throws Error if it is in none of them.
 */
export function childProgram(name: Name): ChildProgram {
  const source = pathBeside(`./${FOLDERS[name]}/${name}.ts`);
  if (import.meta.url.endsWith(".ts") && existsSync(source)) return source;
  const mark = pathBeside(MARK);
  if (!INSIDE_EXECUTABLE.test(mark) && existsSync(mark)) return pathBeside(`./${name}.js`);
  texts ??= embeddedTexts();
  return texts[name];
}

/**
 * Checks that children can be started here. Called before an actor is spawned that needs them.
 *
 * @throws Error that says what to do.
 */
export function requireChildPrograms(): void {
  childProgram("sandbox-worker");
  if (process.env[CHILD_MARK] === undefined) return;
  throw new Error(
    "The code actor cannot start here: this process was started as a sandbox, by an executable that runs the application " +
      "instead of acting as Bun when it is told to (BUN_BE_BUN=1). Compile the application with Bun 1.4 or newer.",
  );
}

const pathBeside = (name: string): string => Bun.fileURLToPath(new URL(name, import.meta.url));

function embeddedTexts(): Texts {
  let packed: Buffer;
  try {
    const { size, embedded } = loadEmbedded();
    packed = bytesOf(embedded, size);
  } catch (cause) {
    const message =
      "The code actor cannot start: the programs of its processes are neither beside this bundle nor in it. Bundle " +
      '"envoi" whole, or leave it out of the bundle (`bun build --external envoi`) and install it where the bundle runs.';
    throw new Error(message, { cause });
  }
  // Fetched here, as node:zlib takes 11 ms to load, and the built package has files that need no unpacking.
  return unpack(process.getBuiltinModule("node:zlib").brotliDecompressSync(packed));
}

/** Reads 13 bits of each two letters, of the 91 that scripts/embed.ts writes. */
function bytesOf(text: string, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let bits = 0;
  let count = 0;
  let end = 0;
  for (let at = 0; at < text.length; at += 2) {
    bits |= (digitOf(text.charCodeAt(at)) + 91 * digitOf(text.charCodeAt(at + 1))) << count;
    count += 13;
    for (; count >= 8 && end < size; count -= 8) {
      bytes[end++] = bits & 255;
      bits >>= 8;
    }
  }
  return bytes;
}

/** The letters from "!" to "~" are the digits, without `"`, `\` and `` ` ``. */
const digitOf = (letter: number): number => letter - (letter > 96 ? 36 : letter > 92 ? 35 : letter > 34 ? 34 : 33);

/** Reads the format of scripts/embed.ts: a line of JSON with names and lengths, then the parts one after the other. */
function unpack(bytes: Uint8Array): Texts {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.indexOf(10);
  let at = end + 1;
  const parts: Record<string, Buffer> = {};
  for (const [name, length] of JSON.parse(buffer.toString("utf8", 0, end)) as [string, number][]) {
    parts[name] = buffer.subarray(at, at + length);
    at += length;
  }
  const part = (name: string): Buffer => parts[name] ?? Buffer.alloc(0);
  const text = (name: Name): ChildText => ({ text: part(name).toString("utf8") });
  const interpreter = `const ENVOI_WASM = "${part("wasm").toString("base64")}";\n`;
  return {
    "sandbox-worker": { text: interpreter + text("sandbox-worker").text },
    "process-worker": text("process-worker"),
    "source-worker": text("source-worker"),
  };
}
