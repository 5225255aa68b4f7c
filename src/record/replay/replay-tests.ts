import { createRequire } from "node:module";
import { relative } from "node:path";
import { TEXT } from "../checks";
import { headerOf } from "./read-sync";
import { checkReplayOptions, type ReplayOptions, replay } from "./replay";

/** Milliseconds after which a test fails that replays a recording. */
const TIMEOUT = 60_000;

/**
 * Makes a test of `bun:test` for each recording, which fails with the text of the report when the replay deviates. Where no file is found,
 * that is a failing test, too. It is called in a file of tests; `bun:test` is loaded by this function alone.
 *
 * @param pattern a path, or a glob such as `"recordings/*.ndjson"`, from the folder in which the tests are started.
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * replayTests("recordings/*.ndjson", { setup: ({ clock, random, recorder }) => buildSystem({ clock, random, recorder }) });
 */
export function replayTests(pattern: string, options: ReplayOptions): void {
  TEXT(pattern, "pattern", "replayTests()");
  checkReplayOptions(options);
  const { test }: typeof import("bun:test") = createRequire(import.meta.url)("bun:test");
  const paths = recordingsAt(pattern);
  if (paths.length === 0) {
    test(`recordings at ${pattern}`, () => {
      throw new Error(`There is no recording at ${pattern}, seen from ${process.cwd()}: make one with recorder().`);
    });
  }
  for (const path of paths) {
    test(
      `replays ${relative(process.cwd(), path)}`,
      async () => {
        const report = await replay(path, options);
        if (!report.isSame) throw new Error(String(report));
      },
      TIMEOUT,
    );
  }
}

/** The files that a pattern finds, of a recording in several parts the first one. A file that is no recording is one that fails. */
function recordingsAt(pattern: string): string[] {
  const paths = [...new Bun.Glob(pattern).scanSync({ absolute: true, dot: true })].sort();
  const found = paths.map((path) => {
    const { recording = path, part = 1 } = headerOf(path) ?? {};
    return { path, recording, part };
  });
  // A copy of a recording that was edited has the id of the other one, and is a test of its own.
  const first = Map.groupBy(found, ({ recording }) => recording);
  return found
    .filter(({ recording, part }) => first.get(recording)?.every((other) => part <= other.part))
    .map(({ path }) => path);
}
