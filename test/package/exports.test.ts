import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json";
import { pack } from "../../scripts/pack";
import { isLong } from "../property/runs";
import { runScript } from "./page";

const modules = join(import.meta.dir, "../../node_modules");

/** What a package exports of envoi, types inferred. `tsc` writes its declarations. */
const PROTOCOLS = `import { createSystem, defineProtocol, type Handlers, refSchema, type SignaturesOf, Type } from "envoi";
import { spawnCodeExecution, spawnFileSystem } from "envoi/tools";
const text = Type.String();
export const Counter = defineProtocol("counter", {
  reset: {},
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  ticks: { stream: Type.Number() },
  find: { payload: Type.Object({ query: Type.String(), limit: Type.Optional(Type.Integer()) }), reply: Type.Array(text) },
  lines: { payload: Type.Union([text, Type.Undefined()]), stream: Type.Object({ text }) },
  plain: { payload: { type: "string" } as const, reply: { type: "number" } as const },
  cast: { payload: Type.Unsafe<Date>({ type: "object" }) as Type.TUnsafe<Date> },
});
export const Host = defineProtocol("host", { welcome: { payload: refSchema(Counter), reply: refSchema(Counter) }, close: {} });
export const handlers: Handlers<SignaturesOf<typeof Host>> = { welcome: (guest) => guest, close() {} };
export const system = createSystem();
export const counter = system.spawn("counter", Counter, () => ({
  reset() {}, add() {}, total: () => 1, *ticks() { yield 1; }, find: ({ query }) => [query], *lines() {}, plain: () => 1, cast() {},
}));
export const host = system.spawn("host", Host, () => handlers);
export const total = () => counter.ask("total");
export const found = async () => (await counter.ask("find", { query: "a" })).map((lines) => lines.length);
export const ticks = () => counter.stream("ticks");
export const files = spawnFileSystem(system, { root: "." });
export const code = spawnCodeExecution(system, { tools: { files: { ref: files, operations: ["read"] } } });
`;

/** What a second package does with it. Each line that is wrong says so; one that compiles is an error. */
const USER = `import type { AskResult, Factory, Protocol, Ref, RefTo, SignaturesOf, Topic } from "envoi";
import { Counter, code, counter, files, found, host, system, ticks, total } from "protocols";
const own: RefTo<typeof Counter> = system.spawn("own", Counter, (ctx) => ({
  reset() {},
  add: (n) => void n.toFixed(),
  total: () => ctx.forward(counter),
  *ticks() { yield 1; },
  find: ({ query, limit }) => [query.repeat(limit ?? 1)],
  *lines(text) { yield { text: text ?? "" }; },
  plain: (text) => text.length,
  cast: (date) => void date.getTime(),
}));
own.tell("reset");
own.tell("add", 1);
own.tell("cast", new Date());
void host.ask("welcome", own, { timeout: 1 });
host.tell("close");
const sum: AskResult<number> = await own.ask("total", { timeout: 1 });
const plain: AskResult<number> = await own.ask("plain", "a");
const texts: AskResult<string[]> = await own.ask("find", { query: "a" });
for await (const { text } of own.stream("lines")) text.trim();
for await (const tick of ticks()) tick.toFixed();
const inferred: [AskResult<number>, number] = [await total(), (await found()).unwrapOr(0)];
const read = await files.ask("read", { path: "a" });
await code.ask("execute", { code: "1" });
export const hear = <T,>(topic: Topic<T>, by: Ref<{ hear: (item: T) => void }>) => topic.subscribe(by, "hear");
export const spawnAny = <T,>(of: Protocol<string, { get: (key: string) => T }>, load: (key: string) => T) =>
  system.spawn("any", of, () => ({ get: (key: string) => load(key) }));
export const forwards = (total: RefTo<typeof Counter> | Ref<{ total: () => 1 }>): Factory<SignaturesOf<typeof Counter>> => (ctx) => ({
  reset() {}, add() {}, total: () => ctx.forward(total), ticks: () => [1], find: () => [], lines: () => [], plain: () => 1, cast() {},
});
// @ts-expect-error
export const mishear = <T,>(topic: Topic<T>, by: Ref<{ hear: (item: number) => void }>) => topic.subscribe(by, "hear");
// @ts-expect-error
own.tell("reset", 1);
// @ts-expect-error
own.tell("add");
// @ts-expect-error
own.tell("rest");
// @ts-expect-error
own.stream("total");
// @ts-expect-error
void own.ask("find", { query: 1 });
// @ts-expect-error
system.spawn("other", Counter, () => ({ add() {} }));
export { inferred, plain, read, sum, texts };
`;

const strict = {
  target: "ESNext",
  lib: ["ESNext"],
  types: ["bun"],
  declaration: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: true, // That envoi's own declarations hold is a test of package.test.ts.
};

describe("a package that exports protocols, and another one that uses it", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "envoi-exports-"));
    await Bun.write(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
    const types = `@types/bun@${manifest.devDependencies["@types/bun"]}`;
    const { exitCode, stderr } = await runScript(folder, "add", pack(folder), types);
    if (exitCode !== 0) throw new Error(stderr);
    await Bun.write(join(folder, "library/index.ts"), PROTOCOLS);
    await Bun.write(join(folder, "user.ts"), USER);
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  for (const compiler of ["typescript", "typescript-5.9"]) {
    for (const [moduleResolution, module] of [
      ["NodeNext", "NodeNext"],
      ["Bundler", "Preserve"],
    ]) {
      // Each compiler and each way to resolve is tried once, and all four pairs in the long verification.
      if ((compiler === "typescript-5.9") === (moduleResolution === "Bundler") && !isLong) continue;
      test(`${compiler}, ${moduleResolution}: the declarations say what the source says`, async () => {
        const installed = join(folder, "node_modules/protocols");
        await rm(installed, { recursive: true, force: true });
        const exports = { ".": { types: "./index.d.ts", default: "./index.js" } };
        await Bun.write(
          join(installed, "package.json"),
          JSON.stringify({ name: "protocols", type: "module", exports }),
        );
        const compile = async (name: string, more: object, include: string): Promise<string> => {
          const compilerOptions = { ...strict, module, moduleResolution, ...more };
          await Bun.write(join(folder, name), JSON.stringify({ compilerOptions, include: [include] }));
          return (await runScript(folder, join(modules, compiler, "bin/tsc"), "-p", name)).stdout;
        };
        expect(await compile("library.json", { outDir: installed, rootDir: "library" }, "library")).toBe("");
        const declared = await Bun.file(join(installed, "index.d.ts")).text();
        expect(declared).toContain("reset: () => void;");
        expect(declared).not.toContain("any");
        expect(await compile("user.json", { noEmit: true }, "user.ts")).toBe("");
      }, 120_000);
    }
  }
});
