import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "typebox/value";
import { aggregator as aggregatorFactory } from "../../examples/project-census/aggregator";
import { Aggregator, Census, Reader } from "../../examples/project-census/protocols";
import { readerOf } from "../../examples/project-census/reader";
import { createSystem } from "../../src/index";
import { countByHand } from "./independent-count";
import { fillOddFolder } from "./odd-folder";

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
    timeout: 30_000,
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
  const { linksToFiles, linksToFolders, brokenLinks } = found.found;
  expect(found.found).toMatchObject({
    emptyFiles: byHand.empty,
    binaryFiles: byHand.binary,
    brokenLinks: byHand.broken,
    specialFiles: byHand.special,
    vanished: 0,
    unreadableFiles: byHand.badFiles,
    unreadableFolders: byHand.badFolders,
    skippedFolders: byHand.skipped,
  });
  expect(linksToFiles + linksToFolders + brokenLinks).toBe(byHand.links);
  expect(found.errors.length).toBe(byHand.badFiles + byHand.badFolders);
  expect(document).toMatchObject({ schema: "envoi.project-census/1", complete: true, run: { flawless: true } });
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
    expect(found).toMatchObject({
      binaryFiles: 3,
      linksToFiles: 1,
      linksToFolders: 1,
      brokenLinks: 2,
      specialFiles: 2,
    });
    expect(found).toMatchObject({ skippedFolders: 2, unreadableFolders: 1 });
    expect(errors.filter(({ kind, reason }) => kind === "file" && reason.startsWith("ENAMETOOLONG"))).not.toEqual([]);
    if (process.platform === "linux") expect(errors.at(-1)?.reason).toBe("its name is not UTF-8");
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
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `Counting ${root} …\n` });
    const parts = stdout.split("\n\n");
    const tables = parts.filter((part) => part.includes("──"));
    expect(tables.length).toBe(4);
    for (const table of tables) {
      expect(new Set(table.split("\n").map((line) => Bun.stringWidth(line))).size).toBe(1);
    }
    expect(stdout).toContain("line\\nbreak\\u{1b}[31m.txt");
    expect(stdout).toContain("1,234");
    expect(stdout).toContain("Folders named node_modules, .git, dist were skipped: 2 of them");
    expect(stdout).toMatch(/^broken links +2$/m);
    expect(stdout).toMatch(/^FIFOs, sockets and devices \(not opened\) +2$/m);
    expect(stdout).toMatch(/^ {2}….*: ENAMETOOLONG: /m);
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
  const reason = "EACCES: permission denied";
  const both = [
    { kind: "file", path: "closed-file", reason },
    { kind: "folder", path: "closed-folder", reason },
  ];
  expect(errors).toEqual(refused ? both : []);
});

test("a file that vanished, or became something else, since the walker saw it is counted and never waited for", async () => {
  const root = join(temporary, "changing");
  mkdirSync(root);
  symlinkSync(main, join(root, "link"));
  Bun.spawnSync(["mkfifo", join(root, "fifo")]);
  await using system = createSystem({ validate: "always" });
  const aggregator = system.spawn("aggregator", Aggregator, aggregatorFactory);
  const reader = system.spawn("reader", Reader, readerOf(root, aggregator, new AbortController().signal));
  for (const path of ["gone", "link", "fifo", "."]) expect((await reader.ask("read", path)).isOk()).toBe(true);
  const found = (await aggregator.ask("census")).map((census) => [census.found.vanished, census.totals.files]);
  expect(found._unsafeUnwrap()).toEqual([4, 0]);
});

test("a reader that was stopped counts nothing of a file that it has not begun", async () => {
  await using system = createSystem();
  const aggregator = system.spawn("aggregator", Aggregator, aggregatorFactory);
  const reader = system.spawn("reader", Reader, readerOf(project, aggregator, AbortSignal.abort()));
  await reader.ask("read", "package.json");
  const found = (await aggregator.ask("census")).map((census) => census.totals.files);
  expect(found._unsafeUnwrap()).toBe(0);
});

test("an empty folder has a report, too", async () => {
  const root = join(temporary, "nothing");
  mkdirSync(root);
  const { exitCode, stdout } = await census(root);
  expect({ exitCode, isNotNumber: stdout.includes("NaN") }).toEqual({ exitCode: 0, isNotNumber: false });
  expectSame((await census(root, "--json")).stdout, countByHand(root, []));
});

test("the project's own files: bun run demo, from any folder of it", async () => {
  const skipped = ["node_modules", ".git", "dist"];
  const whole = await run([process.execPath, "run", "demo", "--json"], { cwd: join(project, "test") });
  expectSame(whole.stdout, countByHand(project, skipped));
  const part = await run([process.execPath, "run", "demo", "e2e", "--json"], { cwd: join(project, "test") });
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

test("a wrong command line gets one sentence, and status 2", async () => {
  const wrong: [string[], string][] = [
    [["--colour"], "There is no option --colour"],
    [["a", "b"], "Give one folder"],
    [["--readers", "0"], "--readers needs a whole number"],
    [[join(temporary, "missing")], "There is no folder /"],
    [[main], "is a file; give the folder that it is in."],
  ];
  for (const [args, sentence] of wrong) {
    const { exitCode, stdout, stderr } = await census(...args);
    expect({ exitCode, stdout, lines: stderr.split("\n").length }).toEqual({ exitCode: 2, stdout: "", lines: 2 });
    expect(stderr).toContain(sentence);
  }
  expect(await census("--help")).toMatchObject({ exitCode: 0, stderr: "" });
});
