import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import type { WatchItem } from "../../../../src/tools/files/requests/watching";
import { runs } from "../../../property/runs";
import { everyWay } from "../ways";
import { type WatchedDisk, withWatched } from "./watched";

const names = fc.constantFrom("a", "b", "c");
const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("write" as const), path: paths }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("mkdir" as const), path: paths }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), path: paths }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("rename" as const), path: paths, to: paths }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("out" as const), path: paths }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("in" as const), path: paths }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("look" as const), path: paths }) },
  ),
  { maxLength: 60 },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

let counter = 0;

/** Does a step, if it can be done. */
function perform(disk: WatchedDisk, directory: string, step: Step): void {
  const path = join(directory, "w", step.path);
  try {
    if (step.kind === "write") disk.writeFileSync(path, "x".repeat(++counter % 5_000));
    else if (step.kind === "mkdir") disk.mkdirSync(path);
    else if (step.kind === "remove") disk.rmSync(path, { recursive: true });
    else if (step.kind === "rename") disk.renameSync(path, join(directory, "w", step.to));
    else if (step.kind === "out") disk.renameSync(path, join(directory, "outside", `${counter++}`));
    else if (step.kind === "in") {
      const [some] = disk.readdirSync(join(directory, "outside")) as string[];
      if (some !== undefined) disk.renameSync(join(directory, "outside", some), path);
    }
  } catch {
    // No such file, or one that is in the way.
  }
}

/** The entries below a directory: the length of each file, −1 for a directory. */
function treeOf(disk: WatchedDisk, directory: string, path = "w"): Map<string, number> {
  const tree = new Map<string, number>();
  for (const name of disk.readdirSync(join(directory, path)) as string[]) {
    const below = `${path}/${name}`;
    const length = lengthOf(disk, directory, below);
    if (length === undefined) continue;
    tree.set(below, length);
    if (length === -1) for (const [inner, innerLength] of treeOf(disk, directory, below)) tree.set(inner, innerLength);
  }
  return tree;
}

function lengthOf(disk: WatchedDisk, directory: string, path: string): number | undefined {
  try {
    const stats = disk.lstatSync(join(directory, path));
    return stats.isDirectory() ? -1 : stats.size;
  } catch {
    return undefined;
  }
}

const sorted = (tree: Map<string, number | undefined>) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1));

test.each(everyWay)(
  "what is told, replayed by a reader that looks at what it is told of, gives the tree that is there: by %s",
  async (way) => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const replayed = new Map<string, number | undefined>();
        const wrong: string[] = [];
        let read = (_path: string): number | undefined => undefined;
        const onItem = ({ kind, path }: WatchItem): void => {
          if (kind === "created") {
            if (replayed.has(path)) wrong.push(`created ${path} twice`);
            replayed.set(path, read(path));
          } else if (kind === "changed") {
            if (!replayed.has(path)) wrong.push(`changed ${path} before it was created`);
            replayed.set(path, read(path));
          } else if (kind === "deleted" && !replayed.delete(path)) wrong.push(`deleted ${path}, which was not there`);
        };
        await withWatched(
          way,
          async ({ disk, directory, watch }) => {
            read = (path) => lengthOf(disk, directory, path);
            disk.mkdirSync(join(directory, "w"));
            disk.mkdirSync(join(directory, "outside"));
            const watching = await watch({ path: "w" });
            for (const step of all) {
              if (step.kind === "look") await watching.look();
              else perform(disk, directory, step);
            }
            await watching.look();
            expect(wrong).toEqual([]);
            expect(sorted(replayed)).toEqual(sorted(treeOf(disk, directory)));
          },
          {},
          onItem,
        );
      }),
      runs(60),
    );
  },
  240_000,
);
