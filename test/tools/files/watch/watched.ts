import * as node from "node:fs";
import { join } from "node:path";
import { Volume } from "memfs";
import type { StreamError, StreamOptions } from "../../../../src";
import { createTestSystem, type TestSystem } from "../../../../src/testing";
import { type FileReply, type FileSystemOptions, type FileSystemRef, spawnFileSystem } from "../../../../src/tools";
import type { WatchItem, WatchRequest } from "../../../../src/tools/files/requests/watching";
import { tmpdir } from "../tmpdir";
import { type Disk, openBelow, type Way } from "../ways";

/** Longer than any interval between two looks, in milliseconds. */
const LOOK = 260;

/** The part of node:fs that these tests use. */
export type WatchedDisk = Disk & Pick<typeof node, "renameSync" | "appendFileSync" | "rmdirSync" | "lstatSync">;

/** A file actor on a clock that stands still, over a directory that begins empty. */
export interface WatchedForTest extends Pick<TestSystem, "system" | "clock" | "advance" | "settle"> {
  readonly files: FileSystemRef;
  readonly directory: string;
  readonly disk: WatchedDisk;
  /** Watches, and notes what is told. */
  watch(request?: WatchRequest, options?: StreamOptions): Promise<Watching>;
}

export interface Watching {
  /** Lets time pass for a look, and gives what was told since the last one: `created a`, or the kind of a refusal or of a StreamError. */
  look(): Promise<string[]>;
  leave(): Promise<void>;
  /** Whether the stream has ended. */
  readonly hasEnded: boolean;
}

/** An item as a text. */
const shown = (reply: FileReply<WatchItem>): string =>
  reply.ok ? `${reply.value.kind} ${reply.value.path}` : reply.error.kind;

/** Runs a test; fails if anything was left open, or any timer set. */
export async function withWatched(
  way: Way,
  run: (parts: WatchedForTest) => Promise<void>,
  options: Partial<FileSystemOptions> = {},
  onItem: (item: WatchItem) => void = () => {},
): Promise<void> {
  const volume = Volume.fromJSON({ "/files/.keep": "" }, "/");
  volume.unlinkSync("/files/.keep");
  const isInMemory = way === "memory";
  const directory = isInMemory ? "/files" : node.mkdtempSync(join(node.realpathSync(tmpdir()), "envoi-watch-"));
  try {
    {
      await using parts = createTestSystem();
      const where = isInMemory ? { volume } : { resolution: way };
      const files = spawnFileSystem(parts.system, { ...options, root: directory, ...where });
      // memfs's functions take and give what node:fs's do.
      const disk = (isInMemory ? volume : node) as unknown as WatchedDisk;
      const open = new Set<Watching>();
      const watch = async (request: WatchRequest = {}, streamOptions: StreamOptions = {}): Promise<Watching> => {
        const watching = watchingOf(files, parts, request, streamOptions, onItem);
        open.add(watching);
        await parts.settle();
        return watching;
      };
      await run({ ...parts, files, directory, disk, watch });
      for (const watching of open) await watching.leave();
      await parts.settle();
    }
    const left = isInMemory ? [] : openBelow(directory);
    if (left.length > 0) throw new Error(`The watch has left these open: ${left.join(", ")}.`);
  } finally {
    if (!isInMemory) node.rmSync(directory, { recursive: true, force: true });
  }
}

function watchingOf(
  files: FileSystemRef,
  { advance, settle }: Pick<TestSystem, "advance" | "settle">,
  request: WatchRequest,
  options: StreamOptions,
  onItem: (item: WatchItem) => void,
): Watching {
  const stream = files.stream("watch", request, options);
  let told: string[] = [];
  let hasEnded = false;
  void (async () => {
    try {
      for await (const reply of stream) {
        told.push(shown(reply));
        if (reply.ok) onItem(reply.value);
      }
    } catch (thrown) {
      told.push((thrown as StreamError).kind); // A loop over a stream throws nothing else.
    }
    hasEnded = true;
  })();
  return {
    get hasEnded() {
      return hasEnded;
    },
    async look() {
      await advance(LOOK);
      await settle();
      const since = told;
      told = [];
      return since;
    },
    async leave() {
      await stream.return();
      await settle();
    },
  };
}
