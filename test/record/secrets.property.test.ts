import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystem, defineProtocol, Type } from "envoi";
import { type Part, readValue, recorder } from "envoi/record";
import fc from "fast-check";
import { suspicionOf } from "../../src/record/transforms/names";
import { ValueWriter } from "../../src/record/values/value-writer";
import { runs } from "../property/runs";

// Secrets are planted in shapes made by chance. Each is searched in all that was written, in each encoding that a shape may bring along.

const NAMES = [
  ...["password", "Authorization", "cookie", "Set-Cookie", "access_token", "apiKey", "client_secret", "X-Api-Key"],
  ...[
    "refreshToken",
    "DB_PASSWORD",
    "privateKey",
    "credentials",
    "jwt",
    "passwd",
    "session_token",
    "proxy-authorization",
  ],
];

const letters = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
const word = (least: number, most: number) =>
  fc.array(letters, { minLength: least, maxLength: most }).map((all) => all.join(""));
/** A secret that has a digit and letters of both kinds, so that no text has it by chance. */
const secretWord = word(14, 30).map((text) => `q7R${text}`);
const name = fc.constantFrom(...NAMES);
const ordinaryName = fc.constantFrom("a", "user", "note", "list", "$x", "id", "long name", "é", "x-y", "0");
const prose = fc.constantFrom("", "a note ", "see: ", "é ", "line\n", "x=1 ", '"', "(", "\t", "[1] ");

/** A secret, and a value in which it stands. */
interface Planted {
  readonly secret: string;
  readonly value: unknown;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A text that is a credential by itself. */
const credential: fc.Arbitrary<{ readonly secret: string; readonly text: string }> = fc
  .tuple(secretWord, fc.nat(11))
  .map(([word, kind]) => {
    const long = `${word}${word}${word}`;
    switch (kind) {
      case 0:
        return { secret: word, text: `Bearer ${word}` };
      case 1:
        return { secret: base64(`ada:${word}`), text: `Basic ${base64(`ada:${word}`)}` };
      case 2:
        return { secret: word, text: `https://ada:${word}@example.com/x` };
      case 3:
        return { secret: long, text: `sk-${long}` };
      case 4:
        return { secret: long.slice(0, 36), text: `ghp_${long.slice(0, 36)}` };
      case 5:
        return { secret: long, text: `xoxb-12345-${long}` };
      case 6:
        return { secret: long, text: `github_pat_${long}` };
      case 7:
        return { secret: word, text: `eyJhbGciOiJIUzI1NiJ9.${base64(`{"sub":"${word}"}`).replace(/=+$/, "")}.${word}` };
      case 8:
        return { secret: long, text: `-----BEGIN PRIVATE KEY-----\n${long}\n-----END PRIVATE KEY-----` };
      case 9:
        return { secret: long.slice(0, 35), text: `AIza${long.slice(0, 35)}` };
      case 10:
        return {
          secret: word.toUpperCase().padEnd(16, "X").slice(0, 16),
          text: `AKIA${word.toUpperCase().padEnd(16, "X").slice(0, 16)}`,
        };
      default:
        return { secret: word, text: `https://example.com/a?b=c&token=${word}&d=e#f` };
    }
  });

/** A value of which a credential stands in a text, whatever its name. */
const inText: fc.Arbitrary<Planted> = fc
  .tuple(credential, prose, prose, fc.nat(11))
  .map(([{ secret, text }, before, after, kind]) => {
    const whole = `${before}${text} ${after}`;
    const values: readonly (() => unknown)[] = [
      () => text,
      () => whole,
      () => ({ [whole]: 1 }),
      () => new Map([[whole, 1]]),
      () => JSON.stringify({ a: [whole] }),
      () => JSON.stringify(JSON.stringify({ a: whole })),
      () => `${before}${JSON.stringify({ a: text })} ${after}`,
      () => base64(`this text says ${text}, and more`),
      () => Buffer.from(`this text says ${text}`).toString("hex"),
      () => `x=${encodeURIComponent(text)}&y=1`,
      () => new Error(whole),
      () => new URLSearchParams({ x: text }),
    ];
    return { secret, value: values[kind]?.() };
  });

/** A value of which a secret stands below a suspicious name. The secret itself may be any text. */
const underName: fc.Arbitrary<Planted> = fc
  .tuple(name, secretWord, fc.constantFrom("", '"', "\\", "\n", "é", " ", "%", "&", "'"), fc.nat(6))
  .map(([name, word, odd, kind]) => {
    const secret = `${word}${odd}${word.slice(3)}`;
    const values: readonly (() => unknown)[] = [
      () => ({ [name]: secret }),
      () => ({ [name]: { deep: [secret] } }),
      () => ({ [name]: [secret, 1] }),
      () => new Map([[name, secret]]),
      () => [
        [name, secret],
        ["accept", "x"],
      ],
      () => ({ headers: [{ name, value: secret }] }),
      () => JSON.stringify({ a: { [name]: secret } }),
    ];
    return { secret: word.slice(3), value: values[kind]?.() };
  });

/** The same where a text says the name. */
const underNameInText: fc.Arbitrary<Planted> = fc
  .tuple(name, secretWord, prose, fc.nat(8))
  .map(([name, secret, before, kind]) => {
    const values: readonly (() => unknown)[] = [
      () => `${before}\n${name}: ${secret}\n`,
      () => `${before}?a=1&${name}=${secret}&b=2`,
      () => `${before}{"${name}": "${secret}", `,
      () => `${before}${JSON.stringify(JSON.stringify({ [name]: secret }))} and so on`,
      () => `${before} --${name} ${secret}`,
      () => new Headers({ [name.replaceAll("_", "-")]: secret }),
      () => new URL(`https://example.com/?${name}=${secret}`),
      () => new URLSearchParams([[name, secret]]),
      () => base64(JSON.stringify({ [name]: secret })),
    ];
    return { secret, value: values[kind]?.() };
  });

class Instance {
  readonly inner: unknown;
  constructor(inner: unknown) {
    this.inner = inner;
  }
}

/** Something around a value. */
const around = (inner: fc.Arbitrary<Planted>): fc.Arbitrary<Planted> =>
  fc
    .tuple(inner, ordinaryName, fc.nat(9), fc.jsonValue({ maxDepth: 1 }))
    .map(([{ secret, value }, key, kind, other]) => {
      const values: readonly (() => unknown)[] = [
        () => [other, value],
        () => ({ other, [key]: value }),
        () =>
          new Map<unknown, unknown>([
            [key, value],
            [1, other],
          ]),
        () => new Map([[value, other]]),
        () => new Set([value, other]),
        () => new Error("failed", { cause: value }),
        () => new AggregateError([value], "failed"),
        () => new Instance(value),
        () => ({ toJSON: () => ({ [key]: value }) }),
        () => Object.assign(Object.create(null), { [key]: value, undefined: undefined, big: 1n }),
      ];
      return { secret, value: values[kind]?.() };
    });

const planted = fc.tuple(fc.oneof(inText, underName, underNameInText), fc.nat(3)).chain(([one, depth]) => {
  let arbitrary: fc.Arbitrary<Planted> = fc.constant(one);
  for (let i = 0; i < depth; i++) arbitrary = around(arbitrary);
  return arbitrary;
});

/** A secret in each encoding; of base64, the part that is the same wherever it stands. */
function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const aligned = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return text.slice(before === 0 ? 0 : 4, text.length - 4);
  });
  return [secret, JSON.stringify(secret).slice(1, -1), bytes.toString("hex"), encodeURIComponent(secret), ...aligned];
}

const place = (part: Part) => ({ address: "@(a)", operation: "b", part });

describe("no secret is written", () => {
  test("of 10,000 shapes with a planted secret, in no encoding", () => {
    const writer = new ValueWriter();
    fc.assert(
      fc.property(
        planted,
        fc.constantFrom<Part>("payload", "reply", "item", "error", "metadata"),
        ({ secret, value }, part) => {
          const text = writer.text(value, place(part));
          expect(text).not.toInclude("\n");
          readValue(JSON.parse(text));
          const found = encodings(secret).find((encoded) => text.includes(encoded));
          if (found !== undefined) throw new Error(`${found} stands in ${text}`);
        },
      ),
      { seed: 22, ...runs(10_000, 100_000) },
    );
  }, 60_000);

  test("nor in the file of a recording, as it is and compressed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "envoi-secrets-"));
    const shapes = fc.sample(planted, { seed: 7, numRuns: 300 });
    for (const compress of [false, "zstd"] as const) {
      const to = join(folder, `${compress}.ndjson`);
      const system = createSystem();
      const recording = recorder(system, { to, compress });
      const Any = defineProtocol("any", { take: { payload: Type.Unknown(), reply: Type.Unknown() } });
      const taker = system.spawn("taker", Any, () => ({
        take: (value) => value,
      }));
      for (const { value } of shapes) await taker.ask("take", value);
      await recording.close();
      await system.shutdown();
      const [path = ""] = await Array.fromAsync(
        new Bun.Glob(`${compress}.ndjson*`).scan({ cwd: folder, absolute: true }),
      );
      const bytes = await Bun.file(path).bytes();
      const text = Buffer.from(compress === "zstd" ? Bun.zstdDecompressSync(bytes) : bytes).toString();
      expect(text.split("\n").length).toBe(2 * shapes.length + 3);
      for (const { secret } of shapes) {
        for (const encoded of encodings(secret))
          if (text.includes(encoded)) throw new Error(`${encoded} stands in the file`);
      }
    }
    await rm(folder, { recursive: true });
  }, 60_000);
});

/** Maps and sets as lists in their order: two members that are equal make a comparison of maps find the wrong one. */
function listed(value: unknown): unknown {
  if (value instanceof Map) return { map: [...value].map(listed) };
  if (value instanceof Set) return { set: [...value].map(listed) };
  if (Array.isArray(value)) return value.map(listed);
  if (value instanceof Date) return { date: value.getTime() }; // Two that are invalid are not equal.
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, listed(each)]));
}

test("ordinary values come back, each equal to what was written", () => {
  const writer = new ValueWriter();
  // Any text, but none that gives a name a value: "CVC: #" is redacted with good reason.
  const text = fc.string({ unit: "binary" }).map((any) => any.replace(/[:=>%-]/g, "."));
  const ordinary = fc.anything({
    key: text.filter((key) => suspicionOf(key) === null),
    values: [fc.boolean(), fc.integer(), fc.double(), text, fc.constant(null), fc.constant(undefined)],
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    maxDepth: 3,
  });
  fc.assert(
    fc.property(ordinary, (value) => {
      const read = readValue(JSON.parse(writer.text(value, place("payload"))));
      expect(listed(read)).toEqual(listed(value));
    }),
    { seed: 22, ...runs(5_000) },
  );
}, 60_000);
