import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putAway } from "../../benchmarks/harness/places";
import { installation } from "../../benchmarks/subjects/installation";
import { serve } from "../../src/http/index";
import { createSystem, createTopic, defineProtocol, Type } from "../../src/index";
import { isLong } from "../property/runs";
import { blocksOf, runScript } from "./page";

const root = join(import.meta.dir, "../..");
const NODE = "22.23.3";
/** The oldest one that the client of a gateway is tested with. */
const OLD_NODE = "20.20.0";
const blocks = blocksOf(await Bun.file(join(root, "docs/runtimes.md")).text());
const blockUnder = (heading: string) => {
  const block = blocks.find((each) => each.heading === heading);
  if (block?.output === undefined) throw new Error(`docs/runtimes.md has no program and output under "${heading}".`);
  return { code: block.code, output: block.output };
};

/** Runs a module as a worker of a browser would: with the globals that a web worker has, and nothing of Node. */
const AS_WORKER = `
import { readFileSync } from "node:fs";
import vm from "node:vm";
const names = "console clearTimeout queueMicrotask performance AbortController AbortSignal DOMException structuredClone crypto MessageChannel URL TextEncoder TextDecoder".split(" ");
const globals = Object.fromEntries(names.map((name) => [name, globalThis[name]]));
globals.setTimeout = (callback, delay) => Number(setTimeout(callback, delay)); // A number, as in a browser.
const context = vm.createContext(globals);
const refuse = () => { throw new Error("A browser has no such module."); };
const program = new vm.SourceTextModule(readFileSync(process.argv[2], "utf8"), { context, importModuleDynamically: refuse });
await program.link(refuse);
await program.evaluate();
`;

/** A Node that is new enough: the one of this machine, or one that is installed into the folder. */
async function nodeIn(folder: string): Promise<string> {
  const own = Bun.which("node");
  if (own !== null) {
    // Under `bun run`, the node of the path is Bun itself.
    const said = await Bun.$`${own} -p ${"process.versions.bun ? 0 : process.versions.node"}`.text();
    const [major = 0, minor = 0] = said.split(".").map(Number);
    if (major > 22 || (major === 22 && minor >= 12)) return own;
  }
  return installNode(folder, NODE);
}

async function installNode(folder: string, version: string): Promise<string> {
  await Bun.write(join(folder, "package.json"), '{ "private": true }\n');
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const { exitCode, stderr } = await runScript(folder, "add", `${name}@${version}`);
  if (exitCode !== 0) throw new Error(stderr);
  return join(folder, `node_modules/${name}/bin/node`);
}

const CALLED = [2, 1, 2, 3, "invalid-payload"];
const TALKED = ["good", "morning", "2message", "3message", "4end"];

/** Calls a service by the client of the package, on a Node, and gives the lines that it writes. */
async function callFrom(folder: string, node: string): Promise<readonly string[]> {
  const Counter = defineProtocol("counter", {
    add: { payload: Type.Number(), reply: Type.Number() },
    ticks: { payload: Type.Number(), stream: Type.Number() },
  });
  const Chat = defineProtocol("chat", { say: { payload: Type.String(), stream: Type.String() } });
  const totals = createTopic<number>("totals");
  const system = createSystem();
  let total = 0;
  const ref = system.spawn("counter", Counter, () => ({
    add(n) {
      total += n;
      totals.publish(total);
      return total;
    },
    *ticks(most) {
      for (let n = 1; n <= most; n++) yield n;
    },
  }));
  const service = serve(system, {
    port: 0,
    hostname: "127.0.0.1",
    signals: [],
    expose: { counter: { ref, operations: { add: true, ticks: { resume: {} } } } },
    topics: { totals },
    sessions: {
      protocol: Chat,
      operations: ["say"],
      path: ":memory:",
      factory: () => ({ say: (text) => text.split(" ") }),
    },
  });
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  await gone.stop(true);
  const code = `
    import { createClient } from "envoi/http/client";
    const url = ${JSON.stringify(service.url)};
    const hasSocket = typeof WebSocket !== "undefined";
    for (const socket of hasSocket ? [false, true] : [false]) {
      const client = createClient({ url, socket });
      console.log((await client.counter.ask("add", 2)).unwrapOr("none"));
      for await (const tick of client.counter.stream("ticks", 3)) console.log(tick);
      console.log((await client.counter.ask("add", "two")).match(String, ({ kind }) => kind));
      client.close();
    }
    const client = createClient({ url });
    const session = (await client.sessions.create({ title: "A trip" }))._unsafeUnwrap();
    for await (const word of session.stream("say", "good morning")) console.log(word);
    for await (const { id, event } of session.events({ message: 1 })) console.log(id + event);
    const onGap = async () => void (await client.counter.tell("add", 1));
    try {
      for await (const total of client.subscribe("totals", { onGap })) {
        console.log(total);
        break;
      }
    } catch (error) {
      console.log(error.message);
    }
    client.close();
    console.log((await createClient({ url: ${JSON.stringify(gone.url)} }).counter.ask("add", 1)).match(String, ({ kind }) => kind));
  `;
  await Bun.write(join(folder, "client.mjs"), code);
  const child = Bun.spawn([node, "client.mjs"], { cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await service.stop({ streams: 0, timeout: 1 });
  expect(stderr).toBe("");
  return stdout.trim().split("\n");
}

describe("the core outside of Bun, as docs/runtimes.md says", () => {
  let folder = "";
  let node = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "envoi-runtimes-"));
    node = await nodeIn(join(folder, "node"));
    cpSync(await installation(), folder, { recursive: true });
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));
  afterAll(putAway);

  const run = (...args: string[]) => {
    const { stdout, stderr, exitCode } = Bun.spawnSync([node, "--no-warnings", ...args], {
      cwd: folder,
      stdin: "ignore",
    });
    return { exitCode, stderr: stderr.toString(), stdout: stdout.toString().trim() };
  };
  const transpile = (code: string) => new Bun.Transpiler({ loader: "ts", target: "node" }).transformSync(code);

  test("on Node: actors, streams and validation run as they are in the package", async () => {
    const { code, output } = blockUnder("Node");
    await Bun.write(join(folder, "quick-start.mjs"), transpile(code));
    expect(run("quick-start.mjs")).toEqual({ exitCode: 0, stderr: "", stdout: output });
  }, 60_000);

  test("on Node: a type that is computed from others is there", async () => {
    const code = `import { Type } from "envoi"; console.log(Type.Pick(Type.Object({ a: Type.Number(), b: Type.Null() }), ["a"]).required);`;
    await Bun.write(join(folder, "computed.mjs"), code);
    expect(run("computed.mjs")).toEqual({ exitCode: 0, stderr: "", stdout: "[ 'a' ]" });
  }, 60_000);

  test("on Node: the test kit runs, a simulation included", async () => {
    const code = `
      import { createSystem, defineProtocol, Type } from "envoi";
      import { createTestSystem, simulate } from "envoi/testing";
      const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
      const test = createTestSystem();
      const probe = test.createProbe(Echo);
      const late = probe.ref.ask("say", "hi", { timeout: 500 });
      await probe.expectMessage("say", "hi");
      await test.advance(500);
      console.log((await late).match(String, (error) => error.kind));
      const { runs } = await simulate(async ({ system }) => {
        await system.spawn("echo", Echo, () => ({ say: (text) => text })).ask("say", "hi");
      }, { seeds: 3 });
      console.log(runs);
    `;
    await Bun.write(join(folder, "kit.mjs"), code);
    expect(run("kit.mjs")).toEqual({ exitCode: 0, stderr: "", stdout: "timeout\n3" });
  }, 60_000);

  test("on Node: the client of a gateway asks, streams, has sessions and topics, and speaks by a socket", async () => {
    expect(await callFrom(folder, node)).toEqual(
      [...CALLED, 4, ...CALLED.slice(1), ...TALKED, "5", "unreachable"].map(String),
    );
  }, 60_000);

  test.skipIf(!isLong)(
    "on Node 20: the client does all of that but what needs a socket",
    async () => {
      const old = await installNode(join(folder, "node20"), OLD_NODE);
      const without = "The message was not sent: this runtime has no WebSocket; Node has one from version 22 on.";
      expect(await callFrom(folder, old)).toEqual([...CALLED, ...TALKED, without, "unreachable"].map(String));
    },
    240_000,
  );

  test("with the globals of a web worker: the program of the page runs, in a bundle", async () => {
    const { code, output } = blockUnder("A worker of a browser");
    await Bun.write(join(folder, "worker.ts"), code);
    await Bun.write(join(folder, "as-worker.mjs"), AS_WORKER);
    const built = await runScript(folder, "build", "--target=browser", "worker.ts", "--outfile=worker.mjs");
    expect(built.exitCode).toBe(0);
    expect(run("--experimental-vm-modules", "as-worker.mjs", "worker.mjs")).toEqual({
      exitCode: 0,
      stderr: "",
      stdout: output,
    });
  }, 60_000);

  test("the declarations compile without Bun's types, with those of a web worker", async () => {
    const compilerOptions = {
      target: "ESNext",
      lib: ["ESNext", "WebWorker"],
      types: [],
      module: "Preserve",
      moduleResolution: "Bundler",
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    };
    await Bun.write(
      join(folder, "all.ts"),
      'export * as core from "envoi";\nexport * as kit from "envoi/testing";\nexport * as client from "envoi/http/client";\n',
    );
    await Bun.write(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["all.ts"] }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    expect((await runScript(folder, tsc, "-p", "tsconfig.json")).stdout).toBe("");
  }, 120_000);
});
