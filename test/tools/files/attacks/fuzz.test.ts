import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { address, createMessage, type Message, parseMessage, serializeMessage } from "../../../../src";
import { FileError } from "../../../../src/tools";
import { runs } from "../../../property/runs";
import { operations } from "./operations";
import { attack, createYard, SECRET, type Serving, ways, type Yard } from "./yard";

const KINDS: ReadonlySet<string> = new Set(FileError.properties.kind.anyOf.map((each) => each.const));
const STREAMS: ReadonlySet<string> = new Set(["search", "readStream", "watch"]);
const known = new Set(operations.map(({ operation }) => operation));
const names = [...known, "writeChunk", "finishWrite", "abortWrite", "inspect"];

const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("file.txt", "a", "a/b", "a/b/deep.txt", "new.txt", "n/e/w", "", ".", "big") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        "..",
        "../outside/secret.txt",
        "a/../../outside",
        "/etc/passwd",
        "l",
        "l/secret.txt",
        "dangling",
        ".envoi/lock",
      ],
      ...["a\0", "file.txt/", "fifo", "x".repeat(256), "loop/x", "\ud800", "NaN", "__proto__", "constructor"],
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);
const count = fc.oneof(
  { weight: 8, arbitrary: fc.nat(20) },
  { weight: 8, arbitrary: fc.constantFrom(0, 1, 2 ** 31, 2 ** 53 - 1) },
  { weight: 1, arbitrary: fc.constantFrom(1e300, -1, 1.5, Number.MAX_VALUE) },
);
const text = fc.oneof(
  fc.constantFrom("inside", "i", "(a+)+$", "[", "\\", "**", "*.txt", "{a,b}", "3e8-0", "6-0"),
  fc.string(),
);
const garbage = fc.oneof(fc.jsonValue(), fc.constantFrom(null, [], {}, "__proto__", { toString: 1 }, { length: 9 }));

/** Values for each field of any request. */
const fields: Record<string, fc.Arbitrary<unknown>> = {
  path,
  from: path,
  to: path,
  content: fc.oneof(text, fc.string({ unit: "binary", size: "large" })),
  encoding: fc.constantFrom("utf8", "utf8", "base64", "base64", "bytes"),
  offset: count,
  length: count,
  lines: fc.record({ from: count, to: count }, { requiredKeys: [] }),
  tail: fc.record({ lines: count, bytes: count }, { requiredKeys: [] }),
  reads: fc.array(fc.record({ path, offset: count, length: count }, { requiredKeys: ["path"] }), { maxLength: 4 }),
  exclude: fc.oneof(text, fc.array(text, { maxLength: 3 })),
  output: fc.constantFrom("lines", "files", "counts"),
  before: fc.nat(21),
  after: fc.nat(21),
  ifMatch: text,
  ifExists: fc.constantFrom("replace", "fail"),
  edits: fc.array(
    fc.record(
      { oldText: text, newText: text, replaceAll: fc.boolean(), lines: fc.record({ from: count, to: count }) },
      { requiredKeys: ["newText"] },
    ),
    { maxLength: 3 },
  ),
  limit: count,
  cursor: text,
  glob: text,
  text,
  pattern: text,
  maxResults: count,
  chunkBytes: fc.constantFrom(1_024, 5_000, 4_194_304),
  upload: text,
  ...Object.fromEntries(
    ["inPlace", "durable", "parents", "recursive", "details", "ignoreCase", "gitignore", "dryRun", "diff"].map(
      (flag) => [flag, fc.boolean()],
    ),
  ),
};
fields["changes"] = fc.array(
  fc.oneof(
    ...[
      { kind: fc.constant("write"), path, content: text },
      { kind: fc.constant("edit"), path, edits: fields["edits"] ?? text },
      { kind: fc.constant("move"), from: path, to: path },
      { kind: fc.constant("delete"), path },
    ].map((change: Record<string, fc.Arbitrary<unknown>>) =>
      fc.record({ ...change, ifMatch: text, parents: fc.boolean() }, { requiredKeys: ["kind"] as never }),
    ),
  ),
  { maxLength: 4 },
);
const REQUIRED = ["path", "content", "from", "to", "edits", "upload", "reads", "changes"];
/** One in a hundred is of another kind. */
const mixed = Object.fromEntries(
  Object.entries(fields).map(([name, arbitrary]) => [
    name,
    fc.oneof({ weight: 100, arbitrary }, { weight: 1, arbitrary: garbage }),
  ]),
);

/** The fields of each operation's payload. */
const FIELDS: Record<string, string> = {
  read: "path encoding offset length lines tail",
  readMany: "reads",
  write: "path content encoding durable ifMatch ifExists inPlace parents",
  append: "path content encoding durable parents",
  edit: "path edits durable ifMatch",
  list: "path recursive glob gitignore details limit cursor",
  stat: "path",
  exists: "path",
  mkdir: "path parents",
  move: "from to ifExists parents",
  copy: "from to ifExists parents",
  delete: "path recursive",
  search: "path text pattern ignoreCase glob exclude gitignore output before after maxResults",
  readStream: "path encoding offset length chunkBytes",
  watch: "path recursive glob",
  beginWrite: "path durable ifMatch ifExists parents",
  writeChunk: "upload content encoding",
  finishWrite: "upload",
  abortWrite: "upload",
};

/** Fields of one operation, and now and then any. */
const requestOf = (operation: string): fc.Arbitrary<unknown> => {
  const own = FIELDS[operation]?.split(" ") ?? [];
  const record = (keys: string[]): fc.Arbitrary<unknown> =>
    fc.record(Object.fromEntries(keys.flatMap((key) => (mixed[key] ? [[key, mixed[key]]] : []))), {
      requiredKeys: keys.filter((key) => REQUIRED.includes(key)) as never,
    });
  return fc.oneof(
    { weight: 12, arbitrary: record(own) },
    { weight: 1, arbitrary: record(Object.keys(mixed)) },
    { weight: 1, arbitrary: garbage },
  );
};
const request = fc
  .constantFrom(...names)
  .chain((operation) => fc.record({ operation: fc.constant(operation), payload: requestOf(operation) }));

function fill(yard: Yard): void {
  writeFileSync(join(yard.root, "big"), `inside\n${"a".repeat(300_000)}!\n`);
  symlinkSync("../outside", join(yard.root, "l"));
  symlinkSync("../outside/none", join(yard.root, "dangling"));
  symlinkSync("loop", join(yard.root, "loop"));
  Bun.spawnSync(["mkfifo", join(yard.root, "fifo")]);
  mkdirSync(join(yard.root, "empty"));
}

/** Fails unless a reply is a value of the protocol, or a refusal of the request's form. */
function expectTold(told: unknown, yard: Yard): void {
  const reply = told as { ok: boolean; error?: { kind: string; path: string } };
  if (!reply.ok) {
    expect(KINDS).toContain(reply.error?.kind ?? "none");
    expect(typeof reply.error?.path).toBe("string");
  }
  const shown = JSON.stringify(reply);
  expect(shown).not.toContain(SECRET);
  expect(shown).not.toContain(yard.place);
}

type From = "outside" | "within";

/** A request as it comes: by text from outside, or as the object that it is. */
function messageFrom(from: From, operation: string, payload: unknown): Message | undefined {
  const message = createMessage(address("files"), operation, payload);
  if (from === "within") return message;
  const sent = serializeMessage(message);
  return sent.isErr() ? undefined : parseMessage(sent.value).unwrapOr(undefined);
}

async function send(
  { system }: Serving,
  { operation, payload }: { readonly operation: string; readonly payload: unknown },
  from: From,
  yard: Yard,
): Promise<string> {
  const message = messageFrom(from, operation, payload);
  if (message === undefined) return "no message";
  if (STREAMS.has(operation)) {
    try {
      let items = 0;
      for await (const item of system.router.stream(message, { timeout: 10_000 })) {
        expectTold(item, yard);
        if (++items === 20 || operation === "watch") break;
      }
      return "told";
    } catch (thrown) {
      expect((thrown as { kind: string }).kind).toBe("invalid-payload");
      return "invalid";
    }
  }
  const reply = await system.router.ask(message);
  if (reply.isErr()) {
    expect(reply.error.kind).toBe("invalid-payload");
    return "invalid";
  }
  expectTold(reply.value, yard);
  return "told";
}

describe.each(ways)("requests of any shape, by %s", (resolution) => {
  test.each<From>(["outside", "within"])(
    "from %s, each is told: no handler throws, none hangs, and nothing is left open",
    async (from) => {
      using yard = createYard();
      fill(yard);
      const seen: Record<string, number> = {};
      await attack(
        yard,
        { resolution, maxReadBytes: 400_000, maxEntries: 50, quotaBytes: 50_000_000 },
        async (serving) => {
          await fc.assert(
            fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 10 }), async (batch) => {
              const said = await Promise.all(batch.map((each) => send(serving, each, from, yard)));
              for (const each of said) seen[each] = (seen[each] ?? 0) + 1;
            }),
            runs(300),
          );
        },
      );
      // Both were met: requests that are looked at, and those that are not.
      expect(seen["told"]).toBeGreaterThan(100);
      expect(seen["invalid"]).toBeGreaterThan(20);
    },
    300_000,
  );
});
