import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import manifest from "../../package.json";
import { pack } from "../../scripts/pack";
import { isLong } from "../property/runs";
import { type Block, blocksOf, fill, runScript } from "./page";
import { bytesOfParts, classesIn } from "./parts";

const root = join(import.meta.dir, "../..");
const readme = Bun.file(join(root, "README.md"));
const quickStart: Block[] = (await readme.exists())
  ? blocksOf(await readme.text()).filter(({ heading }) => /quick ?start/i.test(heading))
  : [];

/** What a user's package may export of what it makes with envoi, types inferred. */
const OWN_PACKAGE = `import { createSystem, defineProtocol, type Handlers, type Result, type SignaturesOf, Type } from "envoi";
export const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
export const system = createSystem();
export const counter = system.spawn("counter", Counter, () => ({ add() {}, total: () => 0, *ticks() {} }));
export const handlers: Handlers<SignaturesOf<typeof Counter>> = { add() {}, total: () => 0, *ticks() {} };
export const ticks = () => counter.stream("ticks", 1);
export const total = async () => (await counter.ask("total")) satisfies Result<number, unknown>;
`;

/** What a user's tests do with the test kit. */
const OWN_TESTS = `import { defineProtocol, type RefTo, Type } from "envoi";
import { createTestSystem, simulate } from "envoi/testing";
const Log = defineProtocol("log", { write: { payload: Type.String(), reply: Type.Number() } });
const greet = (log: RefTo<typeof Log>) => log.ask("write", "hello", { timeout: 500 });
await using test = createTestSystem();
const probe = test.createProbe(Log);
const late = greet(probe.ref);
await probe.expectMessage("write", "hello");
await test.advance(500);
console.log((await late).match(String, (error) => error.kind));
const { runs, faults } = await simulate(
  async ({ system }) => {
    const reply = await greet(system.spawn("log", Log, () => ({ write: (line) => line.length })));
    if (reply.isOk() && reply.value !== 5) throw new Error("a wrong length");
  },
  { seeds: 3, faults: { throw: 1 } },
);
console.log(runs, faults.throw);
`;

/** What a user does with the tools, types inferred. */
const OWN_TOOLS = `import { createSystem } from "envoi";
import { type FileSystemRef, resultOf, spawnFileSystem } from "envoi/tools";
await using system = createSystem();
export const files: FileSystemRef = spawnFileSystem(system, { root: import.meta.dir });
const written = resultOf(await files.ask("write", { path: "notes/today.md", content: "tea\\n" }));
const read = resultOf(await files.ask("read", { path: "notes/today.md" }));
const missing = resultOf(await files.ask("read", { path: "notes/tomorrow.md" }));
if (written.isOk() && read.isOk() && missing.isErr()) {
  console.log(read.value.content, written.value.etag === read.value.etag, missing.error.kind);
}
`;

/** A service with sessions, whose file a thread writes, and its client, types inferred. */
const OWN_SERVICE = `import { createSystem, defineProtocol, Type } from "envoi";
import { serve } from "envoi/http";
import { createClient } from "envoi/http/client";
const Chat = defineProtocol("chat", { say: { payload: Type.String(), stream: Type.String() } });
const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
const system = createSystem();
let total = 0;
const counter = system.spawn("counter", Counter, () => ({
  add: (n) => (total += n),
  *ticks(most) { for (let tick = 1; tick <= most; tick++) yield tick; },
}));
const factory = () => ({ *say(text: string) { yield* text.split(" "); } });
export const service = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  signals: [],
  expose: { counter: { ref: counter, operations: { add: true, ticks: { resume: {} } } } },
  sessions: { protocol: Chat, operations: ["say"], path: "chat.sqlite", factory },
  inspector: { isOpen: true },
});
for (const socket of [false, true]) {
  const client = createClient<typeof service>({ url: service.url, socket });
  const sum: number = (await client.counter.ask("add", 2)).unwrapOr(0);
  const ticks: number[] = [];
  for await (const tick of client.counter.stream("ticks", 3)) ticks.push(tick);
  console.log(sum, ...ticks);
  client.close();
}
const client = createClient<typeof service>({ url: service.url });
const session = await client.sessions.create();
if (session.isErr()) throw new Error(session.error.message);
for await (const word of session.value.stream("say", "good morning")) console.log(word);
const inspector = await (await fetch(new URL("inspect", service.url))).text();
for (const [, file = ""] of inspector.matchAll(/(?:src|href)="(inspect[^"]+)"/g)) {
  const response = await fetch(new URL(file, service.url));
  console.log(file.slice(file.lastIndexOf(".") + 1), response.status, (await response.text()).length > 200);
}
await service.stop();
`;

/** A page: the client alone, with the type of the service. */
const OWN_PAGE = `import { createClient } from "envoi/http/client";
import type { service } from "./service.js";
export const client = createClient<typeof service>({ url: "https://service.example" });
`;

/** MCP, without the packages that it stands on. */
const OWN_MCP = `import { createSystem } from "envoi";
import { connectMcp, serveMcp } from "envoi/mcp";
const system = createSystem();
const said = (thrown: unknown) => console.log(thrown instanceof Error && thrown.message);
await serveMcp(system, { name: "own", version: "1.0.0" }).catch(said);
await connectMcp(system, { name: "other", command: ["none"] }).catch(said);
await system.shutdown();
`;

/** A recording of an agent and of the model outside, and its replay without the model. */
const OWN_RECORD = `import { createSystem, defineProtocol, type System, Type } from "envoi";
import { type Recording, readRecording, recorder, redact, replay } from "envoi/record";
const Model = defineProtocol("model", { complete: { payload: Type.String(), reply: Type.String() } });
const Agent = defineProtocol("agent", { answer: { payload: Type.Object({ by: Type.String() }), reply: Type.String() } });
let calls = 0;
const spawnAgent = (system: System, recording: Recording) => {
  const model = recording.outside("model", Model, () =>
    system.spawn("model", Model, () => ({ complete: (text) => \`\${++calls} \${text}\` })),
  );
  return system.spawn("agent", Agent, (ctx) => ({
    answer: async () => (await ctx.ask(model, "complete", "tea")).unwrapOr("nothing"),
  }));
};
const system = createSystem();
const recording = recorder(system, { to: "run.ndjson", transforms: [redact("payload.by")], compress: "zstd" });
console.log((await spawnAgent(system, recording).ask("answer", { by: "Ada" })).unwrapOr("none"));
await system.shutdown();
const kinds: string[] = [];
for await (const { kind } of readRecording("run.ndjson.zst")) kinds.push(kind);
console.log(kinds.join(" "));
const report = await replay("run.ndjson.zst", {
  setup({ clock, random, recorder }) {
    const again = createSystem({ clock, random });
    spawnAgent(again, recorder(again));
    return again;
  },
});
console.log(report.isSame, report.sent, report.answered, calls);
`;

/** Spans, metrics and fields of logs, by the official SDK. */
const OWN_TELEMETRY = `import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createSystem, defineProtocol, Type } from "envoi";
import { logFields, logs, metricProducer, SCOPE, trace } from "envoi/telemetry";
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const Kitchen = defineProtocol("kitchen", { cook: { payload: Type.String(), reply: Type.Boolean() } });
const system = createSystem({ metrics: true });
trace(system, { tracer: provider.getTracer(SCOPE) });
logs(system);
const kitchen = system.spawn("kitchen", Kitchen, () => ({ cook: () => logFields().trace_id !== undefined }));
console.log((await kitchen.ask("cook", "soup")).unwrapOr(false));
console.log(...exporter.getFinishedSpans().map(({ name }) => name));
const { resourceMetrics } = await metricProducer(system).collect();
console.log(resourceMetrics.scopeMetrics[0]?.metrics.length);
await system.shutdown();
`;

const OPENTELEMETRY = ["api", "context-async-hooks", "resources", "sdk-metrics", "sdk-trace"] as const;

/** Bytes: the least that there must be for the count to mean something, and the most. */
const BUDGETS = [
  ["rest", 1_000_000, 1_965_000],
  ["pages", 20_000, 90_000],
  ["http", 100_000, 400_000],
  ["rpc", 20_000, 80_000],
  ["acp", 50_000, 180_000],
  ["mcp", 20_000, 85_000],
  ["nats", 5_000, 170_000],
  ["record", 60_000, 190_000],
  ["telemetry", 15_000, 50_000],
  ["workers", 10_000, 60_000],
  ["cli", 10_000, 40_000],
] as const;

describe("the tarball, installed into an empty project", () => {
  let folder = "";
  let withoutOpenTelemetry = { exitCode: 0, stdout: "", stderr: "" };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "envoi-package-"));
    const tarball = pack(folder);
    await Bun.write(join(folder, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
    const types = `@types/bun@${manifest.devDependencies["@types/bun"]}`;
    const { exitCode, stderr } = await runScript(folder, "add", tarball, types);
    if (exitCode !== 0) throw new Error(stderr);
    await Bun.write(join(folder, "tests.ts"), OWN_TESTS);
    await Bun.write(join(folder, "tools.ts"), OWN_TOOLS);
    await Bun.write(join(folder, "service.ts"), OWN_SERVICE);
    await Bun.write(join(folder, "page.ts"), OWN_PAGE);
    await Bun.write(join(folder, "mcp.ts"), OWN_MCP);
    await Bun.write(join(folder, "record.ts"), OWN_RECORD);
    await Bun.write(join(folder, "without.ts"), 'import "envoi/telemetry";');
    withoutOpenTelemetry = await runScript(folder, "without.ts");
    const packages = OPENTELEMETRY.map((name) => `@opentelemetry/${name}` as const);
    const added = await runScript(
      folder,
      "add",
      ...packages.map((name) => `${name}@${manifest.devDependencies[name]}`),
    );
    if (added.exitCode !== 0) throw new Error(added.stderr);
    await Bun.write(join(folder, "telemetry.ts"), OWN_TELEMETRY);
    for (const { line, code } of quickStart) await Bun.write(join(folder, `line-${line}.ts`), code);
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("has the code, the declarations, the benchmarks, the pages and the licences, and nothing else: at most 440 files", async () => {
    const installed = join(folder, "node_modules/envoi");
    const names = (await readdir(installed)).filter((name) => !name.startsWith("."));
    const pages = ["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md"];
    expect(names.sort()).toEqual([...pages, "bench", "dist", "package.json"]);
    expect(await readdir(join(installed, "dist"))).toEqual(
      expect.arrayContaining(["acp.license.txt", "diff.license.txt", "embedded.license.txt", "typebox.license.txt"]),
    );
    const files = [...new Glob("**/*").scanSync({ cwd: installed, dot: true })];
    expect(files.filter((file) => /\.map$|\.svg$|(?:^|\/)results\//.test(file))).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(440);
  });

  test("each of its parts is within its budget of bytes", async () => {
    const bytes = await bytesOfParts(join(folder, "node_modules/envoi"));
    for (const [part, least, most] of BUDGETS) {
      const size = bytes[part];
      expect({ part, size, isWithin: size > least && size <= most }).toEqual({ part, size, isWithin: true });
    }
  });

  test("whatever its pages show or lead to is in the package, or is a page of the repository", async () => {
    const installed = join(folder, "node_modules/envoi");
    const found: string[] = [];
    const missing: string[] = [];
    for await (const page of new Glob("**/*.md").scan({ cwd: installed })) {
      const text = await Bun.file(join(installed, page)).text();
      for (const [, shown, led] of text.matchAll(/(?:src|srcset|href)="([^"]+)"|\]\(([^)\s]+)\)/g)) {
        const [path = ""] = (shown ?? led ?? "").split("#");
        if (path === "" || /^\w+:/.test(path)) continue;
        // These two lead to the guides, which are not in the package; the README says where they are.
        const leads = page === "README.md" || page === "CHANGELOG.md";
        const isInRepository = leads && /\.(?:md|txt)$/.test(path) && existsSync(join(root, path));
        const isThere = existsSync(join(installed, dirname(page), path));
        (isThere || isInRepository ? found : missing).push(`${page}: ${path}`);
      }
    }
    expect(missing).toEqual([]);
    expect(found).toContain("README.md: SECURITY.md");
  });

  test("no class of ours is in two of its files, so that a class is one class whichever entry it came by", async () => {
    const dist = join(folder, "node_modules/envoi/dist");
    const files = (await readdir(dist)).filter((name) => /^(?!typebox).*(?<!-worker)\.js$/.test(name)); // Workers are in processes of their own.
    const texts = await Promise.all(files.map((name) => Bun.file(join(dist, name)).text()));
    // Those of the file actor have short names.
    const classes = texts.flatMap((text) => classesIn(text)).filter(([name]) => name.length > 2);
    expect(classes.map(([name]) => name)).toContain("TimerWheel");
    const twice = Object.groupBy(classes, ([name, code]) => `${name}${code}`);
    expect(Object.values(twice).flatMap((same = []) => (same.length > 1 ? [same[0]?.[0]] : []))).toEqual([]);
  });

  test("an error with a stack is shown with the place in its files, and without a warning of source maps", async () => {
    await Bun.write(
      join(folder, "shown.ts"),
      'import { address } from "envoi"; try { address("("); } catch (error) { console.log(error); }',
    );
    const { stdout, stderr } = await runScript(folder, "shown.ts");
    expect(stdout).toMatch(/at address \(.*envoi\/dist\/[\w-]+\.js:\d+:\d+\)/);
    expect(stderr).toBe("");
  });

  test("the README has a quick start", () => expect(quickStart.length).toBeGreaterThan(0));

  for (const { line, output } of quickStart) {
    test(`the quick start at line ${line} of the README runs and prints what the page says`, async () => {
      const { exitCode, stdout, stderr } = await runScript(folder, `line-${line}.ts`);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: exitCode === 0 ? stderr : "" });
      if (output !== undefined) expect(stdout.trim()).toBe(fill(output, stdout));
    }, 240_000);
  }

  test("its test kit runs: a probe on a clock that is moved by hand, and a simulation of three seeds", async () => {
    const { exitCode, stdout, stderr } = await runScript(folder, "tests.ts");
    expect({ exitCode, stderr, stdout }).toEqual({ exitCode: 0, stderr: "", stdout: "timeout\n3 3\n" });
  }, 240_000);

  test("its tools run: an actor that writes a file, reads it, and says that another one is not there", async () => {
    const { exitCode, stdout, stderr } = await runScript(folder, "tools.ts");
    expect({ exitCode, stderr, stdout }).toEqual({ exitCode: 0, stderr: "", stdout: "tea\n true not-found\n" });
  }, 240_000);

  test("its door to HTTP runs: asks, streams and a socket by its client, a session in a file, and the inspector", async () => {
    const { exitCode, stdout, stderr } = await runScript(folder, "service.ts");
    const lines = "2 1 2 3\n4 1 2 3\ngood\nmorning\nsvg 200 true\ncss 200 true\njs 200 true\n";
    expect({ exitCode, stderr, stdout }).toEqual({ exitCode: 0, stderr: "", stdout: lines });
  }, 240_000);

  test("its MCP says which package to install", async () => {
    const { exitCode, stdout, stderr } = await runScript(folder, "mcp.ts");
    const lines = [
      "serveMcp needs the package @modelcontextprotocol/server",
      "connectMcp needs the package @modelcontextprotocol/client",
    ];
    const said = stdout.trim().split("\n");
    expect({ exitCode, stderr, said: said.map((line) => line.split(",")[0]) }).toEqual({
      exitCode: 0,
      stderr: "",
      said: lines,
    });
  }, 60_000);

  test("it records and replays, and its command shows the recording, without what was redacted", async () => {
    const { exitCode, stdout, stderr } = await runScript(folder, "record.ts");
    const lines = "1 tea\nheader message message end end close\ntrue 1 1 1\n";
    expect({ exitCode, stderr, stdout }).toEqual({ exitCode: 0, stderr: "", stdout: lines });
    const shown = await runScript(folder, "x", "--no-install", "envoi", "record", "show", "run.ndjson.zst");
    expect({ exitCode: shown.exitCode, stderr: shown.stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(shown.stdout).toMatch(/agent.*answer[\s\S]*model.*complete/);
    expect(shown.stdout).not.toContain("Ada");
  }, 60_000);

  // The API is imported as any module is. Loaded by `require`, for a sentence of our own, it would be another copy than the SDK's; loaded by
  // `await import`, the wing could be neither required nor compiled to bytecode.
  test("its telemetry names the package that it lacks, on one line", () => {
    const { exitCode, stdout, stderr } = withoutOpenTelemetry;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: Cannot find module '@opentelemetry\/api' from .*$/m);
  });

  test("its telemetry runs with the official SDK: spans, metrics, and the fields of a log", async () => {
    const { exitCode, stdout, stderr } = await runScript(folder, "telemetry.ts");
    expect({ exitCode, stderr, stdout }).toEqual({
      exitCode: 0,
      stderr: "",
      stdout: "true\nprocess kitchen.cook\n2\n",
    });
  }, 60_000);

  test("its client goes into a page, without anything of the service", async () => {
    const options = ["--target=browser", "--minify", "--splitting", "--outdir=page"];
    const built = await runScript(folder, "build", "page.ts", ...options);
    expect({ exitCode: built.exitCode, stderr: built.stderr }).toEqual({ exitCode: 0, stderr: "" });
    const texts = new Map<string, string>();
    for (const name of new Bun.Glob("*.js").scanSync(join(folder, "page"))) {
      texts.set(name, await Bun.file(join(folder, "page", name)).text());
    }
    const text = [...texts.values()].join("");
    const late = new Set([...text.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, name]) => name)); // The socket.
    expect(late.size).toBe(1);
    const first = [...texts].filter(([name]) => !late.has(name));
    const sizes = first.map(([, each]) => Bun.gzipSync(each, { level: 9 }).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(11_000); // 8 kB, and neverthrow.
    expect(text).not.toMatch(/\bBun\.|\bprocess\.|bun:sqlite|node:/);
  }, 60_000);

  for (const [moduleResolution, module] of [
    ["NodeNext", "NodeNext"],
    ["Bundler", "Preserve"],
  ]) {
    if (moduleResolution === "Bundler" && !isLong) continue; // The declarations are the same, and exports.test.ts resolves them so.
    test(`the compiler at its strictest accepts it, declarations included: moduleResolution ${moduleResolution}`, async () => {
      const compilerOptions = {
        target: "ESNext",
        lib: ["ESNext"],
        types: ["bun"],
        module,
        moduleResolution,
        declaration: true, // A package that exports its protocols must be able to name their types.
        outDir: "out",
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noPropertyAccessFromIndexSignature: true,
        noImplicitOverride: true,
        noImplicitReturns: true,
        noUnusedLocals: true,
        noUnusedParameters: true,
        verbatimModuleSyntax: true,
        isolatedModules: true,
        skipLibCheck: false,
      };
      await Bun.write(
        join(folder, "all.ts"),
        [
          "core",
          "testing",
          "tools",
          "http",
          "http/client",
          "rpc",
          "acp",
          "mcp",
          "nats",
          "record",
          "telemetry",
          "workers",
          "benchmarks",
        ]
          .map(
            (wing) => `export * as ${wing.replace("/", "_")} from "${wing === "core" ? "envoi" : `envoi/${wing}`}";\n`,
          )
          .join(""),
      );
      await Bun.write(join(folder, "own.ts"), OWN_PACKAGE);
      await Bun.write(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
      const compiler = join(root, "node_modules/typescript/bin/tsc");
      expect((await runScript(folder, compiler, "-p", folder)).stdout).toBe("");
    }, 240_000);
  }
});
