import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json";
import { pack } from "../../scripts/pack";

const root = join(import.meta.dir, "../..");
const templates = join(root, "examples/templates");

/** A way to start a template, and what comes of it. */
interface Start {
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it prints, in alphabetical order: texts, or matchers of them. */
  readonly lines: readonly unknown[];
  /** What is written to its standard input, which ends when it has printed all its lines. Default: nothing. */
  readonly input?: readonly object[];
  /** Called with its first line, where it is a service: it is then ended by SIGTERM. */
  readonly use?: (line: string) => Promise<void>;
  readonly status: number;
  /** A part of what it writes to standard error. */
  readonly says: string;
}

const rpc = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });

const STARTS: Readonly<Record<string, readonly Start[]>> = {
  agent: [
    {
      input: [
        rpc(1, "initialize", { protocolVersion: 1, clientCapabilities: {} }),
        rpc(2, "session/new", { cwd: "/work", mcpServers: [] }),
      ],
      lines: [
        expect.stringContaining('"agentInfo":{"name":"agent","version":"0.1.0"}'),
        expect.stringContaining('"sessionId":'),
      ],
      status: 0,
      says: "",
    },
    {
      words: ["--mcp"],
      input: [
        rpc(1, "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "test", version: "1" },
        }),
        rpc(2, "tools/call", { name: "tasks_add", arguments: { text: "buy tea" } }),
      ],
      lines: [
        expect.stringContaining('"structuredContent":{"id":1,"text":"buy tea"}'),
        expect.stringContaining('"serverInfo":{"name":"agent","version":"0.1.0"}'),
      ],
      status: 0,
      says: "",
    },
  ],
  "job-pipeline": [
    {
      words: ["jobs.jsonl"],
      lines: [
        '{"id":"empty","ok":false,"reason":"there are no words","attempts":1}',
        '{"id":"haiku","ok":true,"value":{"words":13,"longest":"splash!"},"attempts":1}',
        '{"id":"proverb","ok":true,"value":{"words":6,"longest":"rolling"},"attempts":1}',
        '{"id":"typo","ok":false,"reason":"not a job: /text is required","attempts":0}',
      ],
      status: 1, // Two of its four jobs are there to fail.
      says: "2 done, 2 failed.",
    },
    {
      words: ["no-such.jsonl"],
      lines: [""],
      status: 2,
      says: "The jobs cannot be read: ENOENT: no such file or directory, open 'no-such.jsonl'. 0 done, 0 failed.",
    },
  ],
  service: [
    {
      env: { PORT: "0", TOKENS: "ada=0123456789abcdef0123456789abcdef" },
      lines: [expect.stringMatching(/^It listens at http:\/\/localhost:\d+\/$/)],
      use: async (line) => {
        const url = line.slice(line.indexOf("http"));
        const response = await fetch(`${url}actors/stock/add`, {
          method: "POST",
          headers: { authorization: "Bearer 0123456789abcdef0123456789abcdef", "content-type": "application/json" },
          body: JSON.stringify({ item: "tea", count: 3 }),
        });
        expect([response.status, await response.json()]).toEqual([200, { item: "tea", left: 3 }]);
      },
      status: 143, // It ends by SIGTERM.
      says: "",
    },
    { env: { TOKENS: "" }, lines: [""], status: 2, says: 'Say who may call: TOKENS="ada=TOKEN".' },
  ],
};

/** Runs Bun in a folder, as a user would who has no checkout of envoi. */
const bun = (cwd: string, ...args: string[]) => start(cwd, args, { lines: [], status: 0, says: "" });

async function start(cwd: string, args: readonly string[], { env, use, input = [], lines }: Start) {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd,
    env: { ...process.env, BUN_CREATE_DIR: templates, NO_COLOR: "1", FORCE_COLOR: undefined, ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  for (const message of input) child.stdin.write(`${JSON.stringify(message)}\n`);
  if (input.length > 0) child.stdin.flush();
  else child.stdin.end();
  const printed = async (): Promise<string> => {
    let text = "";
    let isUsed = use === undefined;
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      text += decoder.decode(bytes, { stream: true });
      if (input.length > 0 && text.split("\n").length > lines.length) child.stdin.end();
      if (isUsed || !text.includes("\n")) continue;
      isUsed = true;
      await use?.(text.slice(0, text.indexOf("\n"))).finally(() => child.kill("SIGTERM"));
    }
    return text;
  };
  const [stdout, stderr, exitCode] = await Promise.all([printed(), child.stderr.text(), child.exited]);
  return { exitCode, stdout, stderr };
}

for (const name of new Bun.Glob("*/package.json").scanSync({ cwd: templates })) {
  const template = name.split("/")[0] ?? "";
  describe(`a project made of the template ${template}, with the packed envoi`, () => {
    let folder = "";
    let project = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "envoi-template-"));
      project = join(folder, "mine");
      const created = await bun(folder, "create", "--no-install", "--no-git", template, "mine");
      if (created.exitCode !== 0) throw new Error(created.stderr);
      const own = await Bun.file(join(project, "package.json")).json();
      const { typescript, ...others } = own.devDependencies as Record<string, string>; // As the template has them.
      expect(typescript).toBeDefined();
      const devDependencies = { ...others, "@types/bun": manifest.devDependencies["@types/bun"] };
      const dependencies = { ...own.dependencies, envoi: `file:${pack(folder)}` };
      await Bun.write(join(project, "package.json"), JSON.stringify({ ...own, dependencies, devDependencies }));
      const installed = await bun(project, "install");
      if (installed.exitCode !== 0) throw new Error(installed.stderr);
    }, 240_000);
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test("wants the version of envoi that is here", async () => {
      const { dependencies } = await Bun.file(join(templates, template, "package.json")).json();
      expect(Bun.semver.satisfies(manifest.version, dependencies.envoi)).toBe(true);
    });

    test("its tests pass", async () => {
      const { exitCode, stderr } = await bun(project, "test");
      expect({ exitCode, failed: /^ *0 fail$/m.test(stderr) ? "" : stderr }).toEqual({ exitCode: 0, failed: "" });
    }, 130_000);

    test("the compiler accepts it", async () => {
      const tsc = join(root, "node_modules/typescript-5.9/bin/tsc");
      expect((await bun(project, tsc)).stdout).toBe("");
    }, 130_000);

    const starts = STARTS[template] ?? [];
    test("it starts, as its README says", async () => {
      if (starts.length === 0) throw new Error(`Say in STARTS how ${template} is started, and what it prints.`);
      for (const each of starts) {
        const { exitCode, stdout, stderr } = await start(project, ["start", ...(each.words ?? [])], each);
        expect<unknown[]>(stdout.trim().split("\n").sort()).toEqual([...each.lines]);
        expect(stderr).toContain(each.says);
        expect(exitCode).toBe(each.status);
      }
    }, 60_000);
  });
}
