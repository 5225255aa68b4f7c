import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSystem } from "../../src/tools/files/protocol";
import { runScript } from "../package/page";
import { isLong } from "../property/runs";

const root = join(import.meta.dir, "../..");

const GIVEN = `import { type AnySignatures, type Context, createSystem, createTopic, defineProtocol, type Ref, type RefTo, type SignaturesOf, Type } from "envoi";
import { createGateway } from "envoi/http";
import { createClient } from "envoi/http/client";
import { createBehaviourKit, createTestSystem } from "envoi/testing";
import type { FileSystemRef } from "envoi/tools";
export const Desk = defineProtocol("desk", {
  open: {},
  note: { payload: Type.String() },
  find: { payload: Type.String(), reply: Type.Number() },
  total: { reply: Type.Number() },
  chars: { stream: Type.String() },
  rank: { payload: Type.Number() },
});
export const Other = defineProtocol("other", { find: { payload: Type.Number(), reply: Type.Number() } });
export const Apart = defineProtocol("apart", { more: {} });
export type DeskSignatures = SignaturesOf<typeof Desk>;
export declare const files: FileSystemRef;
export declare const desk: RefTo<typeof Desk>;
export declare const other: RefTo<typeof Other>;
export declare const apart: RefTo<typeof Apart>;
export declare const anything: Ref<AnySignatures>;
export declare const ctx: Context<DeskSignatures>;
export declare const isSo: boolean;
export declare const text: string;
export const system = createSystem();
export const topic = createTopic<string>("topic");
export const dates = createTopic<Date>("dates");
export const gateway = createGateway(system, {
  expose: {
    files: { ref: files, operations: ["read", "readStream"] },
    desk: { ref: desk, operations: { find: true, total: true, chars: { resume: {} } } },
  },
});
export const talking = createGateway(system, {
  expose: {},
  topics: { topic, dates },
  sessions: { protocol: Desk, operations: ["find", "note", "chars"], factory: () => desks },
});
export const session = createClient<typeof talking>({ url: "/api" }).sessions.at("7");
export const client = createClient<typeof gateway>({ url: "/api" });
export const kit = createBehaviourKit(Desk, () => desks);
export const probe = createTestSystem().createProbe(Desk);
export const desks = { open() {}, note() {}, find: () => 1, total: () => 1, chars: () => ["a"], rank() {} };
`;

const namesOf = (isStream: boolean): string =>
  Object.values(FileSystem.operations)
    .filter((operation) => operation.isStream === isStream)
    .map(({ name }) => `"${name}"`)
    .sort()
    .join(" | ");
const ASKS = namesOf(false);
const STREAMS = namesOf(true);
const GRANTS = ["read", "readStream", "writeChunk"];
const noFunction = (what: string) => [`'${what}' is not assignable to type 'Schema | undefined'`];
const MIXED = "one of these operations takes a payload and another takes none: call each by its own name";

/** Programs that are wrong, and what the compiler says of each, untruncated; the names are in the order of its own. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  // A name that there is not.
  'files.ask("reed", { path: "a" });': ['"reed"', ASKS],
  'files.tell("reed", { path: "a" });': ['"reed"', ASKS],
  'files.offer("reed");': ['"reed"', ASKS],
  'files.stream("reedStream", { path: "a" });': ['"reedStream"', STREAMS],
  'ctx.ask(files, "reed", { path: "a" }, { timeout: 5 });': ['"reed"', ASKS],
  'ctx.tell(files, "reed");': ['"reed"', ASKS],
  'ctx.offer(files, "reed", { path: "a" });': ['"reed"', ASKS],
  'ctx.stream(files, "reedStream");': ['"reedStream"', STREAMS],
  "files.ask(text);": ["'string'", ASKS],
  'probe.tell(files, "reed", { path: "a" });': ['"reed"', ASKS],
  'kit.run("opn");': ['"opn"', '"chars" | "find" | "note" | "open" | "rank" | "total"'],
  'kit.refuse(files, "reed", "timeout");': ['"reed"', '"readStream"', '"writeChunk"'],
  'probe.expectMessage("opn");': ['"opn"', '"chars" | "find" | "note" | "open" | "rank" | "total"'],
  'topic.subscribe(desk, "nte");': ['"nte"', '"find" | "note"'],
  'topic.subscribe(desk, "rank");': ['"rank"', '"find" | "note"'],
  'dates.subscribe(desk, "note");': ['"note"', "it has no operation whose payload is an item of this topic"],
  // A stream is not asked, and what is not one does not stream.
  'files.ask("readStream", { path: "a" });': ['"readStream gives a stream: call stream() for it"'],
  'files.tell("watch");': ['"watch gives a stream: call stream() for it"'],
  'files.offer("search", { text: "a" });': ['"search gives a stream: call stream() for it"'],
  'ctx.ask(files, "readStream", { path: "a" });': ['"readStream gives a stream: call stream() for it"'],
  'desk.stream("total");': ['"total does not stream: call ask() or tell() for it"'],
  'files.stream("read", { path: "a" });': ['"read does not stream: call ask() or tell() for it"'],
  'ctx.stream(files, "read");': ['"read does not stream: call ask() or tell() for it"'],
  // A payload.
  'files.ask("read", { pth: "a" });': ["'pth' does not exist", "'path'"],
  'files.ask("read");': ["Expected 2-3 arguments, but got 1."],
  'desk.ask("total", 1);': ["Type '1' has no properties in common with type 'AskOptions'."],
  'desk.tell(isSo ? "note" : "rank", "a");': [`'"a"' is not assignable to parameter of type 'never'`],
  'desk.tell(isSo ? "note" : "open", "a");': [MIXED],
  // A protocol and its handlers.
  'defineProtocol("x", { a: { payload: String } });': noFunction("StringConstructor"),
  'defineProtocol("x", { a: { reply: Date } });': noFunction("DateConstructor"),
  'defineProtocol("x", { a: { stream: class A {} } });': noFunction("typeof A"),
  'defineProtocol("x", { a: { payload: "string" } });': ["'string' is not assignable to type 'Schema'"],
  'defineProtocol("x", { a: { payloads: Type.String() } });': ["'payloads' does not exist", "'payload'"],
  'system.spawn("x", Desk, () => ({ ...desks, chars: () => "abc" }));': ["'string'", "Items<string>"],
  'system.spawn("x", Desk, () => ({ ...desks, find: () => ctx.forward(other) }));': ["'number'", "PassedOn<{ find:"],
  'system.spawn("x", Desk, () => ({ ...desks, note: () => ctx.forward(apart) }));': [
    '"it takes none of the operations of the actor that forwards"',
  ],
  // A reference where another one is wanted.
  "export const ref: Ref<{ note: () => void }> = desk;": ["'() => void'", "Expected 1 or more, but got 0."],
  "export const ref: Ref<{ open: (payload: string) => void }> = desk;": [
    `Type '"no payload"' is not assignable to type '"a payload"'.`,
  ],
  "export const ref: Ref<{ open: () => void }> = anything;": ["Property 'open' is missing"],
  // What code is granted.
  'spawnCodeExecution(system, { tools: { files: { ref: files, operations: ["reed"] } } });': ['"reed"', ...GRANTS],
  'spawnProgram(system, "p", "1", { tools: { files: { ref: files, operations: ["read", "reed"] } } });': GRANTS,
  'typesFor({ files: { ref: files, operations: ["reed"] } });': ['"reed"', ...GRANTS],
  // What a gateway exposes.
  'createGateway(system, { expose: { files: { ref: files, operations: ["reed"] } } });': ['"reed"', ...GRANTS],
  'createGateway(system, { expose: { desk: { ref: desk, operations: ["find", "totl"] } } });': ['"totl"', '"total"'],
  "createGateway(system, { expose: { desk: { ref: desk, operations: { totl: true } } } });": [
    "'true' is not assignable",
  ],
  'createGateway(system, { expose: { desk: { ref: desk, operations: { find: { format: "sse" } } } } });': ["'true'"],
  'createGateway(system, { expose: { desk: { ref: desk, operations: { chars: { fromat: "sse" } } } } });': ["'fromat'"],
  "createGateway(system, { expose: { desk } });": ["operations"],
  "createGateway(system, { expos: {} });": ["'expos'"],
  // What a client of a gateway may ask.
  'client.files.ask("reed", { path: "a" });': ['"reed"', '"read"'],
  'client.files.ask("write", { path: "a", text: "" });': ['"write"', '"read"'],
  'client.files.ask("readStream", { path: "a" });': ['"readStream gives a stream: call stream() for it"'],
  'client.files.stream("read", { path: "a" });': ['"read does not stream: call ask() or tell() for it"'],
  'client.files.ask("read", { pth: "a" });': ["'pth' does not exist", "'path'"],
  'client.files.ask("read");': ["Expected 2-3 arguments, but got 1."],
  'client.desk.ask("total", 1);': ["'1'", "'undefined'"],
  "client.fils;": ["'fils' does not exist"],
  "client.sessions.create();": ['"this gateway has no sessions: give it the option sessions"'],
  'client.subscribe("topic");': ['"this gateway has no topics: give it the option topics"'],
  'session.ask("fnd", "a");': ['"fnd"', '"find" | "note"'],
  'session.ask("chars");': ['"chars gives a stream: call stream() for it"'],
  'session.ask("total");': ['"total"', '"find" | "note"'],
  'session.tell("opn");': ['"opn"', '"chars" | "find" | "note"'],
  'createClient<typeof talking>({ url: "/" }).subscribe("topc");': ['"topc"', '"dates" | "topic"'],
  'createGateway(system, { expose: {}, sessions: { protocol: Desk, operations: ["fnd"], factory: () => desks } });': [
    '"fnd"',
    '"find"',
  ],
};
const programs = Object.keys(WRONG);

/** A protocol of 300 operations, exposed as a list, as a record and by sessions: the compiler must not tire of it. */
const names = Array.from({ length: 300 }, (_, n) => `operation${n}`);
const LARGE = `import { createSystem, defineProtocol, type Handlers, type RefTo, type SignaturesOf, Type } from "envoi";
import { createGateway } from "envoi/http";
import { createClient } from "envoi/http/client";
const Payload = Type.Object({ id: Type.String(), count: Type.Number(), tags: Type.Array(Type.String()) });
const Large = defineProtocol("large", {
  ${names.map((name, n) => `${name}: { payload: Payload, ${n % 10 === 0 ? "stream" : "reply"}: Payload }`).join(",\n  ")}
});
declare const ref: RefTo<typeof Large>;
declare const handlers: Handlers<SignaturesOf<typeof Large>>;
export const gateway = createGateway(createSystem(), {
  expose: {
    list: { ref, operations: ${JSON.stringify(names)} },
    record: { ref, operations: { ${names.map((name, n) => `${name}: ${n % 10 === 0 ? "{ resume: {} }" : "true"}`).join(", ")} } },
  },
  sessions: { protocol: Large, operations: ${JSON.stringify(names)}, factory: () => handlers },
});
const client = createClient<typeof gateway>({ url: "/api" });
const payload = { id: "a", count: 1, tags: [] };
const session = client.sessions.at("7");
export const sent = [
  ${names.map((name, n) => `session.${n % 10 === 0 ? "stream" : "ask"}("${name}", payload)`).join(",\n  ")}
] as const;
export const asked = [
  ${names.map((name, n) => `client.${n % 2 === 0 ? "list" : "record"}.${n % 10 === 0 ? "stream" : "ask"}("${name}", payload)`).join(",\n  ")}
] as const;
`;

describe("what the compiler says of a wrong program", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "envoi-messages-"));
    const compilerOptions = {
      types: ["bun"],
      typeRoots: [join(root, "node_modules/@types")],
      noUnusedLocals: false,
    };
    const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
    await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(config));
    await Bun.write(join(folder, "given.ts"), GIVEN);
    const names = [...GIVEN.matchAll(/export (?:declare )?const (\w+)/g)].map(([, name]) => name);
    const head = [
      `import { ${names.join(", ")} } from "./given";`,
      'import { defineProtocol, type Ref, Type } from "envoi";',
      'import { createGateway } from "envoi/http";',
      'import { createClient } from "envoi/http/client";',
      'import { spawnCodeExecution, spawnProgram, typesFor } from "envoi/tools";',
    ];
    await Bun.write(join(folder, "large.ts"), LARGE);
    for (const [i, program] of programs.entries()) {
      await Bun.write(join(folder, `p${i}.ts`), [...head, program, "export {};"].join("\n"));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  for (const flags of isLong ? [[], ["--noErrorTruncation"]] : [[]]) {
    test(`is short and names the operation or the choices ${flags}`, async () => {
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      const { stdout } = await runScript(folder, tsc, "--pretty", "false", "--extendedDiagnostics", ...flags);
      const [errors = "", figures = ""] = stdout.split(/^(?=Files: )/m);
      const said = Map.groupBy(errors.split(/^(?=\S)/m), (error) => /^p(\d+)\.ts/.exec(error)?.[1] ?? "elsewhere");
      expect(said.get("elsewhere")).toBeUndefined();
      for (const [i, program] of programs.entries()) {
        const messages = said.get(String(i)) ?? [];
        const text = messages.join("");
        const wanted = flags.length === 0 ? (WRONG[program] ?? []).filter((part) => part !== ASKS) : WRONG[program];
        expect({ program, text, missing: wanted?.filter((part) => !text.includes(part)) }).toEqual({
          program,
          text,
          missing: [],
        });
        expect({ program, long: messages.filter(({ length }) => length > 2_000) }).toEqual({ program, long: [] });
      }
      const figure = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, "m").exec(figures)?.[1]);
      expect(figure("Memory used")).toBeLessThan(600_000); // In kB; 270 MB when this was written.
      expect(figure("Instantiations")).toBeLessThan(3_500_000); // 3.0 million; the 300 calls of a client take 0.8.
    }, 60_000);
  }
});
