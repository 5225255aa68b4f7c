import { describe, expect, test } from "bun:test";
import { drop, mask, redact, replace, type Transform } from "../../src/record/index";
import type { Part } from "../../src/record/transforms/paths";
import { ValueWriter } from "../../src/record/values/value-writer";

const SECRET = "Zq7hunter2Xv";

function written(value: unknown, part: Part = "payload", transforms: Transform[] = []): string {
  return new ValueWriter({ transforms }).text(value, { address: "@(a)", operation: "o", part });
}

/** Writes itself as a text, as the values of libraries for secrets and for identifiers do. */
class Wrapped {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toJSON(): string {
    return this.#text;
  }
}

describe("a stack says no more than the message of its error", () => {
  const mail = `mail of ${SECRET}\n    at ${SECRET} (a.ts:1:2)`;
  for (const transform of [
    redact("error.message"),
    replace("error.message", "x"),
    drop("error.message"),
    mask("error.message", { keep: 0 }),
  ]) {
    test(String(transform), () => {
      const text = written(new Error(mail), "error", [transform]);
      expect(text).not.toContain(SECRET);
      expect(JSON.parse(text).stack).toMatch(/^ {4}at .*hidden-secrets/);
    });
  }

  test("of the causes, and of errors in values, too", () => {
    const transforms = [redact("**.message")];
    const error = new AggregateError([new Error(mail)], mail, { cause: new TypeError(mail) });
    expect(written(error, "error", transforms)).not.toContain(SECRET);
    expect(written({ error }, "payload", transforms)).not.toContain(SECRET);
  });

  test("where the message is a line that the defaults redact", () => {
    const error = new Error(`password: correct horse ${SECRET}`);
    expect(written(error, "error")).not.toContain(SECRET);
    expect(written([error])).not.toContain(SECRET);
  });

  test("an ordinary stack is written as it is", () => {
    const error = new Error("There is no file a.txt");
    expect(JSON.parse(written(error, "error")).stack).toBe(error.stack);
  });
});

describe("a secret below its name is redacted, whatever holds it", () => {
  const held: Record<string, unknown> = {
    "a text object": { auth: new String(SECRET) },
    "an object with a toJSON": { pass: new Wrapped(SECRET) },
    "a list": { auth: ["ada", SECRET] },
    "a list of digits": { pin: [SECRET] },
    "the parameters of an URL": new URLSearchParams({ sig: SECRET, code: SECRET }),
    "an option of a command and the next item": { args: ["mysql", "--password", SECRET] },
    "an entry in capitals": [{ Name: "DB_PASSWORD", Value: SECRET }],
    "an entry with several values": [{ name: "Authorization", values: [SECRET] }],
    "JSON with an escaped name": `{"p\\u0061ssword":"${SECRET}"}`,
    "a file of settings": `user = ada\npassword = correct horse ${SECRET}\n`,
    "a block of YAML": `user: ada\npassword: |\n  correct horse\n  ${SECRET}\nport: 1\n`,
    "a folded block of YAML": `password: >-\n  ${SECRET}`,
  };
  for (const [name, value] of Object.entries(held)) {
    test(name, () => expect(written(value)).not.toContain(SECRET));
  }

  test("and what stands around it is written", () => {
    expect(written("password: |\n  a\n  b\nport: 1\n")).toMatch(
      /^"password: \|\\n {0,2}redacted:[\w-]{22}port: 1\\n"$/,
    );
    expect(written({ args: ["--verbose", "yes", "--user", "ada"] })).toBe(
      '{"args":["--verbose","yes","--user","ada"]}',
    );
    expect(written({ auth: { type: "basic" } })).toBe('{"auth":{"type":"basic"}}');
  });
});

test("base64 that is cut into lines is redacted as a whole", () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${"Q7zkeyline".repeat(40)}\n-----END PRIVATE KEY-----\n`;
  const lines = Buffer.from(key)
    .toString("base64")
    .match(/.{1,76}/g) as string[];
  const text = written(`apiVersion: v1\n${lines.join("\n")}\nend of it`);
  for (const line of lines) expect(text).not.toContain(line);
  expect(text).toContain("end of it");
});

describe("a key of a known provider, without a name", () => {
  const random = "Zq7hunter2Xv4f9d0a1b2c3d4e5f6a7b8c9d0";
  for (const prefix of "gsk_ xai- pplx- tvly- hvs. r8_ lin_api_ glsa_ sntrys_ csk- nvapi- ntn_".split(" ")) {
    test(prefix, () => expect(written(`use ${prefix}${random}`)).not.toContain(random));
  }
});
