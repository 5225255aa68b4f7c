import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { AskResult, Factory, RefTo, SignaturesOf } from "../../src/index";
import type { Aggregator, Reader } from "./protocols";
import { refusalOf } from "./system-error";
import { TextTally } from "./text-tally";

/** So much is read at a time, synchronously: that is faster, and takes a few milliseconds with all the counting. */
const CHUNK = 64 * 1024;
/** A NUL among so many first bytes tells a binary file. */
const HEAD = 8 * 1024;
// If it is a link or a FIFO by now, opening fails or returns at once.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A reader of the files below a root, one at a time and each by chunks; `signal` ends it within a long file. */
export function readerOf(
  root: string,
  aggregator: RefTo<typeof Aggregator>,
  signal: AbortSignal,
): Factory<SignaturesOf<typeof Reader>> {
  return (ctx) => {
    const buffer = Buffer.allocUnsafe(CHUNK); // One for all files: the next message waits for the end of this one.

    /** The chunks of a file. All is read that was there when it was opened, lest one that grows be read for ever. */
    function* chunksOf(file: number, size: number): Generator<Uint8Array> {
      for (let at = 0; at < size && !signal.aborted; ) {
        const count = readSync(file, buffer, 0, Math.min(CHUNK, size - at), at);
        if (count === 0) return;
        at += count;
        yield buffer.subarray(0, count);
      }
    }

    async function isText(file: number, size: number): Promise<boolean> {
      const decoder = new TextDecoder("utf-8", { fatal: true });
      let isHead = true;
      for (const chunk of chunksOf(file, size)) {
        if (isHead && chunk.subarray(0, HEAD).includes(0)) return false;
        isHead = false;
        if (!accepts(() => decoder.decode(chunk, { stream: true }))) return false;
        if (size > CHUNK) await setImmediate(); // A large file lets timers and other readers have their turn.
      }
      return accepts(() => decoder.decode());
    }

    async function readText(file: number, path: string, size: number): Promise<void> {
      const tally = new TextTally();
      let bytes = 0;
      for (const chunk of chunksOf(file, size)) {
        tally.add(chunk);
        bytes += chunk.length;
        received(await ctx.ask(aggregator, "words", { words: tally.takeWords(), bytes: chunk.length }));
        if (size > CHUNK) await setImmediate();
      }
      tally.end();
      received(await ctx.ask(aggregator, "words", { words: tally.takeWords(), bytes: 0 }));
      received(await ctx.ask(aggregator, "text", { path, lines: tally.lines, bytes }));
    }

    async function read(file: number, path: string): Promise<void> {
      const found = fstatSync(file);
      if (!found.isFile()) {
        ctx.tell(aggregator, "oddity", "vanished");
        return;
      }
      // A large file is read twice: a bad byte near its end must be known before the first of its words is counted.
      const isTextFile = await isText(file, found.size);
      if (signal.aborted) return; // Nobody knows what the rest of it is.
      if (isTextFile) await readText(file, path, found.size);
      else ctx.tell(aggregator, "binary", { bytes: found.size });
    }

    return {
      async read(path) {
        let file: number | undefined;
        try {
          file = openSync(join(root, path), FLAGS);
          await read(file, path);
        } catch (thrown) {
          const refusal = refusalOf(path, thrown);
          if (refusal.isGone) ctx.tell(aggregator, "oddity", "vanished");
          else ctx.tell(aggregator, "unreadable", { kind: "file", path, reason: refusal.reason });
        } finally {
          if (file !== undefined) closeSync(file);
        }
      },
    };
  };
}

/** Whether the decoder takes what it is given: it throws where that is not UTF-8. */
function accepts(decode: () => string): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}

/** What the aggregator did not get would be missing from the figures: the reader fails, loudly. */
function received(result: AskResult): void {
  if (result.isErr()) throw new Error(result.error.message, { cause: result.error });
}
