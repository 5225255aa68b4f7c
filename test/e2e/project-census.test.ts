import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "typebox/value";
import { aggregator as aggregatorFactory } from "../../examples/project-census/aggregator";
import { parseCommand, UsageError } from "../../examples/project-census/command-line";
import { Aggregator, Census, Reader, Walker } from "../../examples/project-census/protocols";
import { readerOf } from "../../examples/project-census/reader";
import { walkerOf } from "../../examples/project-census/walker";
import { createSystem } from "../../src/index";
import { spawnFileSystem } from "../../src/tools/index";
import { isLong } from "../property/runs";
import { countByHand } from "./independent-count";
import { fillOddFolder } from "./odd-folder";
import { refusalOf } from "./refusal";

const project = join(import.meta.dir, "../..");
const main = join(project, "examples/project-census/main.ts");
const temporary = mkdtempSync(join(tmpdir(), "envoi-census-"));
chmodSync(temporary, 0o755); // For the test that runs as another user.
// Not rmSync: it gives up on paths that are too long.
afterAll(() => void Bun.spawnSync(["rm", "-rf", temporary]));

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(command: readonly string[], { cwd = project, interrupt = false } = {}): Promise<Outcome> {
  const { npm_lifecycle_event, INIT_CWD, npm_config_local_prefix, ...env } = process.env; // As in a plain shell.
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...env, NO_COLOR: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  const stdout = child.stdout.text();
  let stderr = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    stderr += decoder.decode(chunk, { stream: true });
    if (interrupt && stderr.startsWith("Counting")) child.kill("SIGINT");
  }
  return { exitCode: await child.exited, stdout: await stdout, stderr };
}

const census = (...args: string[]): Promise<Outcome> => run([process.execPath, main, ...args]);

/** Compares the JSON of a census with the independent count; returns it for more. */
function expectSame(json: string, byHand: ReturnType<typeof countByHand>) {
  const document: unknown = JSON.parse(json);
  expect(Value.Check(Census, document)).toBe(true);
  const found = Value.Parse(Census, document);
  expect(found.totals).toEqual({
    files: byHand.files,
    textFiles: Object.keys(byHand.lines).length,
    lines: byHand.sum(byHand.lines),
    bytes: byHand.bytes,
    words: byHand.sum(byHand.words),
    distinctWords: Object.keys(byHand.words).length,
    folders: byHand.folders,
  });
  expect(found.longestFiles.map(({ path, lines }) => [path, lines])).toEqual(byHand.longest);
  expect(found.frequentWords.map(({ word, count }) => [word, count])).toEqual(byHand.frequent);
  expect(found.found).toMatchObject({
    emptyFiles: byHand.empty,
    binaryFiles: byHand.binary,
    links: byHand.links,
    specialFiles: byHand.special,
    vanished: 0,
    unreadableFiles: byHand.badFiles,
    unreadableFolders: byHand.badFolders,
    unreadableNames: byHand.badNames,
    skippedFolders: byHand.skipped,
  });
  expect(found.errors.filter(({ kind }) => kind !== "names").length).toBe(byHand.badFiles + byHand.badFolders);
  expect(document).toMatchObject({ schema: "envoi.project-census/2", complete: true, run: { flawless: true } });
  return found;
}

describe("a folder with everything in it", () => {
  const root = join(temporary, "odd");
  let leave: () => void;
  beforeAll(() => {
    leave = fillOddFolder(root);
  });
  afterAll(() => leave());

  test("the figures are those of an independent count", async () => {
    const { exitCode, stdout, stderr } = await census(root, "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const byHand = countByHand(root, ["node_modules", ".git", "dist"]);
    const { found, errors, languages } = expectSame(stdout, byHand);
    // What the fixture has, lest both counts miss it.
    expect(found).toMatchObject({ binaryFiles: 3, links: 4, specialFiles: 2, skippedFolders: 2 });
    // A name in Latin 1; and what is in the folder whose path is the longest: a file and a folder.
    expect(found).toMatchObject({ unreadableFiles: 0, unreadableFolders: 0, unreadableNames: 3 });
    const reason = "names that no path can say (not UTF-8, or more than 4,095 bytes with their folders): ";
    expect(errors).toEqual([
      { kind: "names", path: ".", reason: `${reason}1` },
      { kind: "names", path: expect.stringMatching(/^deep(\/0+){20}$/), reason: `${reason}2` },
    ]);
    expect(byHand.words["counted"]).toBe(1);
    expect(byHand.words["constructor"]).toBe(1);
    expect(languages.find(({ language }) => language === "TypeScript")).toMatchObject({ files: 1, lines: 2 });
  });

  test("--all counts the skipped folders, too; one reader finds the same as many", async () => {
    const byHand = countByHand(root, []);
    for (const readers of ["1", "9"]) {
      expectSame((await census("--json", "--all", "--readers", readers, "--", root)).stdout, byHand);
    }
  });

  test("the report has aligned tables, escaped names and all the oddities", async () => {
    const { exitCode, stdout, stderr } = await census(root);
    expect(exitCode).toBe(0);
    // A slow machine adds a line now and then, of how far it is.
    const [begun, ...since] = stderr.trimEnd().split("\n");
    expect(begun).toBe(`Counting ${root} …`);
    for (const line of since) expect(line).toMatch(/^[\d,]+ files, \S+ \w+ …$/);
    const parts = stdout.split("\n\n");
    const tables = parts.filter((part) => part.includes("──"));
    expect(tables.length).toBe(4);
    for (const table of tables) {
      expect(new Set(table.split("\n").map((line) => Bun.stringWidth(line))).size).toBe(1);
    }
    expect(stdout).toContain("line\\nbreak\\u{1b}[31m.txt");
    expect(stdout).toContain("1,234");
    expect(stdout).toContain("Folders named node_modules, .git, dist were skipped: 2 of them");
    expect(stdout).toMatch(/^links \(not followed\) +4$/m);
    expect(stdout).toMatch(/^FIFOs, sockets and devices \(not opened\) +2$/m);
    expect(stdout).toMatch(/^ {2}…0+: names that no path can say /m);
    expect(stdout).toMatch(/^[\d,]+ messages in \d+\.\d\d s: [\d,]+ a second\.$/m);
    expect(stdout).not.toContain("NOT ALL WENT WELL");
    expect(stdout).not.toContain("\u001b");
  });
});

test("files and folders without permission are counted and listed", async () => {
  const root = join(temporary, "closed");
  mkdirSync(join(root, "closed-folder"), { recursive: true });
  writeFileSync(join(root, "closed-file"), "secret");
  writeFileSync(join(root, "open-file"), "open");
  chmodSync(join(root, "closed-file"), 0);
  chmodSync(join(root, "closed-folder"), 0);
  // Root may read everything: then somebody else runs the census, if the machine lets another user run this Bun.
  const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const isRoot = process.getuid?.() === 0;
  const probe = [...nobody, process.execPath, main, "--help"];
  const canSwitch = isRoot && Bun.which("setpriv") !== null && Bun.spawnSync(probe).exitCode === 0;
  if (isRoot && !canSwitch) console.warn("Permissions cannot be tested as root here: only that root reads all is.");
  const { stdout } = await run([...(canSwitch ? nobody : []), process.execPath, main, root, "--json"]);
  chmodSync(join(root, "closed-folder"), 0o700);
  const { totals, errors } = JSON.parse(stdout);
  const refused = !isRoot || canSwitch;
  expect(totals).toMatchObject({ files: 2, textFiles: refused ? 1 : 2, folders: refused ? 1 : 2 });
  const both = [
    { kind: "file", path: "closed-file" },
    { kind: "folder", path: "closed-folder" },
  ].map((each) => ({ ...each, reason: `The operating system does not allow this for "${each.path}".` }));
  expect(errors).toEqual(refused ? both : []);
});

/** A reader of the files of a folder, beside the aggregator that it tells. */
function readerIn(root: string, signal: AbortSignal = new AbortController().signal) {
  const system = createSystem({ validate: "always", askTimeout: 60_000 });
  const counted = Promise.withResolvers<void>();
  system.around(({ operation }, run) => {
    run();
    if (operation === "words") counted.resolve();
  });
  const aggregator = system.spawn("aggregator", Aggregator, aggregatorFactory);
  const files = spawnFileSystem(system, { root, readOnly: true, maxReadBytes: 64 * 1024 }); // No large file at once.
  const reader = system.spawn("reader", Reader, readerOf(files, aggregator, signal));
  const census = async () => (await aggregator.ask("census"))._unsafeUnwrap();
  return { system, reader, census, hasCounted: counted.promise };
}

test("a file that vanished, or became something else, since the walker saw it is counted and never waited for", async () => {
  const root = join(temporary, "changing");
  mkdirSync(root);
  symlinkSync(main, join(root, "link"));
  Bun.spawnSync(["mkfifo", join(root, "fifo")]);
  writeFileSync(join(root, "file"), "");
  const { system, reader, census } = readerIn(root);
  await using _ = system;
  for (const path of ["gone", "gone/file", "file/below", "link", "fifo", "."])
    expect((await reader.ask("read", path)).isOk()).toBe(true);
  const { found, totals, errors } = await census();
  expect([found.vanished, found.unreadableFiles, totals.files]).toEqual([5, 1, 1]);
  expect(errors).toEqual([{ kind: "file", path: "link", reason: expect.stringContaining("links are not followed") }]);
});

test("a reader that was stopped counts nothing of a file that it has not begun", async () => {
  const { system, reader, census } = readerIn(project, AbortSignal.abort());
  await using _ = system;
  await reader.ask("read", "package.json");
  expect((await census()).totals.files).toBe(0);
});

test("a text that is cut while its words are counted is unreadable, and said to be", async () => {
  const root = join(temporary, "cut");
  mkdirSync(root);
  const path = join(root, "large.txt");
  writeFileSync(path, "many words to count\n".repeat(400_000));
  const { system, reader, census, hasCounted } = readerIn(root);
  await using _ = system;
  const reading = reader.ask("read", "large.txt");
  await hasCounted;
  truncateSync(path, 0);
  expect((await reading).isOk()).toBe(true);
  const { found, totals, errors } = await census();
  expect([found.unreadableFiles, totals.files, totals.textFiles, totals.lines]).toEqual([1, 1, 0, 0]);
  expect(errors).toEqual([{ kind: "file", path: "large.txt", reason: expect.stringContaining("was cut while") }]);
});

test("a reader that is stopped within a text counts what it has read of it", async () => {
  const root = join(temporary, "long");
  mkdirSync(root);
  writeFileSync(join(root, "large.txt"), "many words to count\n".repeat(400_000));
  const stop = new AbortController();
  const { system, reader, census, hasCounted } = readerIn(root, stop.signal);
  await using _ = system;
  const reading = reader.ask("read", "large.txt");
  await hasCounted;
  stop.abort();
  await reading;
  const { totals } = await census();
  expect(totals).toMatchObject({ files: 1, textFiles: 1 });
  expect(totals.lines).toBeLessThan(400_000);
});

test("a folder of many pages is listed whole, and what no path can say in it is counted once", async () => {
  const root = join(temporary, "many");
  mkdirSync(root);
  for (let i = 0; i < 25; i++) writeFileSync(join(root, `file-${i}`), "");
  for (let i = 0; i < 25; i++) mkdirSync(join(root, `folder-${i}/below`), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xe9])]), "");
  await using system = createSystem({ validate: "always" });
  const aggregator = system.spawn("aggregator", Aggregator, aggregatorFactory);
  const files = spawnFileSystem(system, { root, readOnly: true, maxEntries: 7 });
  const { signal } = new AbortController();
  const walker = system.spawn("walker", Walker, walkerOf(files, false, aggregator, signal));
  const found: string[] = [];
  for (let next = await walker.ask("next"); ; next = await walker.ask("next")) {
    const path = next._unsafeUnwrap();
    if (path === null) break;
    found.push(path);
  }
  expect((await walker.ask("next"))._unsafeUnwrap()).toBe(null);
  expect(found.sort()).toEqual(Array.from({ length: 25 }, (_, i) => `file-${i}`).sort());
  const census = (await aggregator.ask("census"))._unsafeUnwrap();
  expect(census.totals.folders).toBe(51);
  expect(census.found.unreadableNames).toBe(1);
});

test("a walker that was stopped lists nothing more", async () => {
  await using system = createSystem();
  const aggregator = system.spawn("aggregator", Aggregator, aggregatorFactory);
  const files = spawnFileSystem(system, { root: project, readOnly: true });
  const walker = system.spawn("walker", Walker, walkerOf(files, false, aggregator, AbortSignal.abort()));
  expect((await walker.ask("next"))._unsafeUnwrap()).toBe(null);
});

test("an empty folder has a report, too", async () => {
  const root = join(temporary, "nothing");
  mkdirSync(root);
  const { exitCode, stdout } = await census(root);
  expect({ exitCode, isNotNumber: stdout.includes("NaN") }).toEqual({ exitCode: 0, isNotNumber: false });
  expectSame((await census(root, "--json")).stdout, countByHand(root, []));
});

test("the project's own files: bun run demo:census, from any folder of it", async () => {
  const skipped = ["node_modules", ".git", "dist"];
  if (isLong) {
    const whole = await run([process.execPath, "run", "demo:census", "--json"], { cwd: join(project, "test") });
    expectSame(whole.stdout, countByHand(project, skipped));
  }
  const part = await run([process.execPath, "run", "demo:census", "e2e", "--json"], { cwd: join(project, "test") });
  expectSame(part.stdout, countByHand(join(project, "test/e2e"), skipped));
});

test("Ctrl-C ends it with what it has, and status 130", async () => {
  const root = join(temporary, "large");
  mkdirSync(root);
  writeFileSync(join(root, "large.txt"), "many words to count\n".repeat(4_000_000));
  const { exitCode, stdout } = await run([process.execPath, main, root], { interrupt: true });
  rmSync(root, { recursive: true });
  expect(exitCode).toBe(130);
  expect(stdout).toContain("It was stopped early: these are the figures so far.");
  expect(stdout).not.toContain("NOT ALL WENT WELL");
});

test("where files cannot be served safely, one line says so and what to do, and the status is 1", async () => {
  const preload = join(temporary, "elsewhere.ts");
  writeFileSync(preload, 'Object.defineProperty(process, "platform", { value: "darwin" });');
  const { exitCode, stdout, stderr } = await run([process.execPath, "--preload", preload, main, "--json"]);
  expect({ exitCode, stdout, lines: stderr.split("\n").length }).toEqual({ exitCode: 1, stdout: "", lines: 2 });
  expect(stderr).toMatch(/^There is no safe way to serve files here .*Use a Linux machine/);
});

test("a wrong command line gets one sentence, and status 2", async () => {
  const wrong: [string[], string][] = [
    [["--colour"], "There is no option --colour"],
    [["a", "b"], "Give one folder"],
    [["--readers", "0"], "--readers needs a whole number"],
    [[join(temporary, "missing")], "There is no folder /"],
    [[main], "is a file; give the folder that it is in."],
  ];
  for (const [args, sentence] of wrong) {
    const said = refusalOf(() => parseCommand(args, project), UsageError);
    expect({ args, said, lines: said.split("\n").length }).toEqual({
      args,
      said: expect.stringContaining(sentence),
      lines: 1,
    });
  }
  const stderr = expect.stringMatching(/^There is no option --colour.*\n$/);
  expect(await census("--colour")).toEqual({ exitCode: 2, stdout: "", stderr });
  expect(await census("--help")).toMatchObject({ exitCode: 0, stderr: "" });
});
