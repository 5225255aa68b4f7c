import { createRequire } from "node:module";
import { relative } from "node:path";
import { option } from "../../index";
import { headerOf } from "./read-sync";
import { checkReplayOptions, type ReplayOptions, replay } from "./replay";

/** The options of `replayTests`. */
export interface ReplayTestsOptions extends ReplayOptions {
  /** True for recordings of which nothing can be compared, such as one that has a header alone. Default: false, and their tests fail. */
  readonly allowEmpty?: boolean;
}

/** Milliseconds after which a test fails that replays a recording. */
const TIMEOUT = 60_000;

/**
 * Makes a test of `bun:test` for each recording, which fails with the text of the report when the replay deviates, or has nothing to
 * compare (`allowEmpty`). Where no file is found, that is a failing test, too. It is called in a file of tests; `bun:test` is loaded by this function alone.
 *
 * @param pattern a path, or a glob such as `"recordings/*.ndjson"`, from the folder in which the tests are started.
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * replayTests("recordings/*.ndjson", { setup: ({ clock, random, recorder }) => buildSystem({ clock, random, recorder }) });
 */
export function replayTests(pattern: string, { allowEmpty = false, ...options }: ReplayTestsOptions): void {
  option.text(pattern, "pattern", "replayTests()");
  checkReplayOptions(options);
  option.flag(allowEmpty, "allowEmpty", "replayTests()");
  const { test }: typeof import("bun:test") = createRequire(import.meta.url)("bun:test");
  const paths = recordingsAt(pattern);
  if (paths.length === 0) {
    test(`recordings at ${pattern}`, async () => {
      await Promise.resolve(); // An error of the first turn is shown with the line that throws it.
      throw failure(`There is no recording at ${pattern}, seen from ${process.cwd()}: make one with recorder().`);
    });
  }
  for (const path of paths) {
    test(
      `replays ${relative(process.cwd(), path)}`,
      async () => {
        const report = await replay(path, options);
        if (!report.isSame) throw failure(String(report));
        if (report.compared === 0 && report.answered === 0 && !allowEmpty) throw failure(`${report}${EMPTY}`);
      },
      TIMEOUT,
    );
  }
}

const EMPTY =
  "Nothing was compared: the recording has no message from outside whose end it knows. Record it again, or allow it: allowEmpty: true.\n";

/** An error that is shown as its text alone: the frames of this library say nothing about a deviation. */
function failure(text: string): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    const error = new Error(text);
    error.stack = text;
    return error;
  } finally {
    Error.stackTraceLimit = limit;
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
