import { isUtf8 } from "node:buffer";
import type { AskResult, Factory, RefTo, SignaturesOf } from "envoi";
import { type FileReply, resultOf } from "envoi/tools";
import type { Aggregator, Files, Reader, Unreadable } from "./protocols";
import { TextTally } from "./text-tally";

/** So many bytes are counted at a time, which takes a few milliseconds. A file of no more is read at once. */
const CHUNK = 64 * 1024;
/** A NUL among so many first bytes tells a binary file. */
const HEAD = 8 * 1024;

type Chunks = AsyncIterable<FileReply<string | Uint8Array>> | Iterable<FileReply<string | Uint8Array>>;

/** A reader of files, one at a time and each by chunks; `signal` ends it within a long file. */
export function readerOf(
  files: Files<"read" | "readStream">,
  aggregator: RefTo<typeof Aggregator>,
  signal: AbortSignal,
): Factory<SignaturesOf<typeof Reader>> {
  return (ctx) => {
    const unreadable = (path: string, error: Unreadable["error"]): void =>
      ctx.tell(aggregator, "unreadable", { kind: "file", path, error });

    /** Why a file is no text or cannot be read, if so. */
    async function flawOf(path: string): Promise<Unreadable["error"] | undefined> {
      for await (const text of ctx.stream(files, "readStream", { path, encoding: "utf8" })) {
        if (!text.ok) return text.error;
        if (signal.aborted) break;
      }
      return undefined;
    }

    async function countText(path: string, chunks: Chunks): Promise<void> {
      const tally = new TextTally();
      let bytes = 0;
      for await (const chunk of chunks) {
        if (signal.aborted) break;
        if (!chunk.ok) return unreadable(path, chunk.error);
        const content = chunk.value as Uint8Array; // Bytes were asked for.
        tally.add(content);
        bytes += content.length;
        received(await ctx.ask(aggregator, "words", { words: tally.takeWords(), bytes: content.length }));
      }
      tally.end();
      received(await ctx.ask(aggregator, "words", { words: tally.takeWords(), bytes: 0 }));
      received(await ctx.ask(aggregator, "text", { path, lines: tally.lines, bytes }));
    }

    return {
      async read(path) {
        const begin = resultOf(await ctx.ask(files, "read", { path, encoding: "bytes", length: CHUNK }));
        if (begin.isErr()) return unreadable(path, begin.error);
        const { size } = begin.value;
        const content = begin.value.content as Uint8Array; // Bytes were asked for.
        const isWhole = content.length === size;
        let isText = !content.subarray(0, HEAD).includes(0) && (!isWhole || isUtf8(content));
        if (isText && !isWhole) {
          // A large file is read twice: a bad byte near its end must be known before the first of its words is counted.
          const flaw = await flawOf(path);
          if (flaw !== undefined && flaw.kind !== "not-text") return unreadable(path, flaw);
          isText = flaw === undefined;
        }
        if (signal.aborted) return; // Nobody knows what the rest of it is.
        if (!isText) return ctx.tell(aggregator, "binary", { bytes: size });
        await countText(
          path,
          isWhole ? [{ ok: true, value: content }] : ctx.stream(files, "readStream", { path, chunkBytes: CHUNK }),
        );
      },
    };
  };
}

/** What the aggregator did not get would be missing from the figures: the reader fails, loudly. */
function received(result: AskResult): void {
  if (result.isErr()) throw new Error(result.error.message, { cause: result.error });
}
