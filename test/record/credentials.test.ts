import { describe, expect, test } from "bun:test";
import { mayHoldSecret } from "../../src/record/transforms/marks";
import { DEFAULTS, suspicionOf } from "../../src/record/transforms/names";
import { ValueWriter, type ValueWriterOptions } from "../../src/record/values/value-writer";

const PLACE = { address: "@(a)", operation: "b", part: "payload" } as const;
const SECRET = "hunter2-Xy9";
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const GITHUB = `ghp_${"aB3".repeat(12)}`;
const PEM = `-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n+x/==\n-----END RSA PRIVATE KEY-----`;

const text = (value: unknown, options: ValueWriterOptions = {}): string =>
  new ValueWriter({ key: "k", ...options }).text(value, PLACE);
const base64 = (plain: string): string => Buffer.from(plain).toString("base64");

describe("names that say that a secret follows", () => {
  const NAMES = [
    ...[
      "authorization",
      "Authorization",
      "Proxy-Authorization",
      "x-auth",
      "cookie",
      "Set-Cookie",
      "cookies",
      "session_cookie",
    ],
    ...[
      "token",
      "access_token",
      "refreshToken",
      "ID_TOKEN",
      "x-csrf-token",
      "GITHUB_TOKEN",
      "jwt",
      "bearer",
      "tokens",
      "token2",
    ],
    ...[
      "apiKey",
      "api_key",
      "X-API-Key",
      "APIKEY",
      "privateKey",
      "secret",
      "clientSecret",
      "client_secret",
      "AWS_SECRET_ACCESS_KEY",
    ],
    ...[
      "credentials",
      "signingKey",
      "ocp-apim-subscription-key",
      "password",
      "passwd",
      "PGPASSWORD",
      "pwd",
      "newPassword",
      "pass",
    ],
    ...[
      "passwordHash",
      "password_confirmation",
      "passphrase",
      "db_pass",
      "pin",
      "cvv",
      "otp",
      "x-amz-security-token",
      "auth",
    ],
  ];
  test.each(NAMES)("%s", (name) => {
    expect(mayHoldSecret(name)).toBeTrue();
    for (const value of [
      { [name]: SECRET },
      { a: [{ [name]: SECRET }] },
      new Map([[name, SECRET]]),
      [
        [name, SECRET],
        ["b", "c"],
      ],
      [
        { name, value: SECRET },
        { key: name, value: SECRET },
      ],
      JSON.stringify({ [name]: SECRET }),
      JSON.stringify({ a: JSON.stringify({ [name]: SECRET, b: 1 }) }),
      `data: ${JSON.stringify({ [name]: SECRET })}\n\n`,
      `said ${JSON.stringify(JSON.stringify({ [name]: SECRET }))}.`,
      `https://example.com/a?b=c&${name}=${SECRET}&d=e`,
      new URL(`https://example.com/?${name}=${SECRET}`),
      new URLSearchParams({ [name]: SECRET }),
      `${name}=${SECRET}`,
      `${name}: ${SECRET}`,
      `${name} = "${SECRET}"`,
      `--${name} ${SECRET} --verbose`,
      `<${name}>${SECRET}</${name}>`,
      new Error(`no: ${name}=${SECRET}`, { cause: { [name]: SECRET } }),
      base64(JSON.stringify({ [name]: SECRET })),
      Buffer.from(JSON.stringify({ [name]: SECRET })).toString("hex"),
      `q=${encodeURIComponent(JSON.stringify({ [name]: SECRET }))}`,
    ]) {
      const result = text(value);
      expect(result).not.toInclude(SECRET);
      expect(result).not.toInclude(base64(SECRET).slice(0, 12));
      expect(result).toInclude("redacted:");
    }
  });

  test.each([
    "tokenizer",
    "tokenCount",
    "progressToken",
    "nextPageToken",
    "author",
    "monkey",
    "key",
    "cookiePolicy",
    "passport",
    "keyboard",
    "compass",
    "publicKey",
    "pinned",
    "secretary",
    "passwordChangedAt",
    "stopTokens",
  ])("%s is ordinary", (name) => {
    expect(suspicionOf(name)).toBeNull();
    expect(text({ [name]: "abc" })).toBe(JSON.stringify({ [name]: "abc" }));
  });

  test("numbers and what holds a secret are redacted as a whole, what says nothing is not", () => {
    const result = JSON.parse(
      text({ pin: 1234, password: { a: { b: SECRET } }, cookies: [SECRET], secret: true, token: null, jwt: "" }),
    );
    expect(Object.values(result).map((value) => String(value).slice(0, 9))).toEqual([
      ...["redacted:", "redacted:", "redacted:", "true", "null", ""],
    ]);
  });

  test("hex of digits alone is found where it is long", () => {
    const hex = Buffer.from(`Bearer ${"q7R8".repeat(5)} secret=2026`).toString("hex");
    expect(text({ hex })).toMatch(/redacted:/);
    expect(text({ card: "4242424242424242" })).toBe('{"card":"4242424242424242"}');
  });

  test("header fields one after the other", () => {
    expect(text(["Host", "a", "Cookie", `sid=${SECRET}`])).not.toInclude(SECRET);
  });
});

describe("texts that look like a credential", () => {
  const CREDENTIALS = [
    `Bearer ${SECRET}`,
    `basic ${base64(`ada:${SECRET}`)}`,
    JWT,
    GITHUB,
    `github_pat_${"aB3_".repeat(12)}`,
    `sk-proj-${"aB3".repeat(12)}`,
    `sk_live_${"aB3".repeat(8)}`,
    `xoxb-123456789012-${"aB3".repeat(8)}`,
    "AKIAIOSFODNN7EXAMPLE",
    `AIza${"aB3_x".repeat(7)}`,
    `glpat-${"aB3x".repeat(5)}`,
    `SG.${"aB3".repeat(7)}.${"cD4".repeat(10)}`,
    PEM,
    `postgres://ada:${SECRET}@db.internal:5432/x`,
    `https://${"a1b2".repeat(8)}@host/x`,
  ];
  test.each(CREDENTIALS)("%s", (credential) => {
    const secret = credential.replace(/^[a-z]+ |^[a-z]+:\/\/(?:ada:)?|@.*$/gi, "");
    for (const value of [
      credential,
      { note: credential },
      [`before ${credential}`, { deep: [credential] }],
      { [credential]: 1 },
      new Map([[credential, 1]]),
      new Set([credential]),
      new Error(credential),
      new Headers({ "x-any": credential.replaceAll("\n", " ") }),
      JSON.stringify({ note: `a ${credential} b` }),
      JSON.stringify([JSON.stringify([credential])]),
      base64(`this is ${credential}, a long one`),
      Buffer.from(`this is ${credential}`).toString("hex"),
      `x=${encodeURIComponent(credential)}`,
      new URL(`https://h/?x=${encodeURIComponent(credential)}`),
    ]) {
      const result = text(value);
      expect(result).not.toInclude(secret);
      expect(result).not.toInclude(JSON.stringify(secret).slice(1, -1));
      expect(result).toInclude("redacted:");
    }
  });

  test("what stands around it stays", () => {
    expect(text(`a ${GITHUB} b`)).toMatch(/^"a redacted:[\w-]{22} b"$/);
    expect(text(`postgres://ada:${SECRET}@db/x`)).toMatch(/^"postgres:\/\/ada:redacted:[\w-]{22}@db\/x"$/);
    expect(text(`Cookie: a=${SECRET}\r\nHost: b`)).toMatch(/^"Cookie: redacted:[\w-]{22}\\r\\nHost: b"$/);
    expect(text(`{"a": 1,\n  "password": "${SECRET}"}`)).toMatch(
      /^"\{\\n {2}\\"a\\": 1,\\n {2}\\"password\\": \\"redacted:/,
    );
  });

  test("a redacted text stays as it is, so that a replay is recorded alike", () => {
    const once = text({ password: SECRET, note: `token=${SECRET}`, header: `Bearer ${SECRET}` });
    expect(text(JSON.parse(once))).toBe(once);
  });
});

describe("defaults are switched off by name", () => {
  const value = {
    authorization: "aaaa",
    cookie: "bbbb",
    token: "cccc",
    apiKey: "dddd",
    password: "eeee",
  };
  test.each(DEFAULTS)("%s", (name) => {
    const result = Object.values(JSON.parse(text(value, { keep: [name] })));
    expect(result.filter((each) => !String(each).startsWith("redacted:"))).toEqual([
      Object.values(value)[DEFAULTS.indexOf(name)],
    ]);
    expect(text({ a: JWT, b: GITHUB }, { keep: ["tokens"] })).toInclude(JWT);
  });
  test("all of them", () => {
    expect(text({ ...value, a: PEM, b: JWT }, { keep: [...DEFAULTS] })).toBe(
      JSON.stringify({ ...value, a: PEM, b: JWT }),
    );
  });
});

describe("hostile texts take time in proportion to their length", () => {
  const MEGABYTE = 1_000_000;
  const fill = (piece: string): string => piece.repeat(Math.ceil(MEGABYTE / piece.length));
  test.each([
    ...[
      "eyJ",
      "eyJ.",
      "Bearer ",
      "bearer a ",
      "Basic YWRh",
      "token:",
      "tokens:[",
      'password":"',
      'password=\\\\"',
      "://a:",
      "://",
      "sk-",
      "=",
      ":::",
    ],
    ...[
      "-----BEGIN PRIVATE KEY-----",
      '"',
      "\\",
      "%25",
      "%",
      "{",
      '{"a":',
      "[",
      "Y29va",
      "6162",
      "a.b-",
      "xoxb-",
      "AKIA",
      "<a>",
      "--a ",
      "SG.a",
      "@",
    ],
  ])(
    "%s",
    (piece) => {
      const writer = new ValueWriter({ key: "k", limits: { text: 2 * MEGABYTE, value: 20 * MEGABYTE } });
      const result = writer.text({ password: "x", note: fill(piece) }, PLACE);
      expect(result).not.toInclude("\n");
      JSON.parse(result);
    },
    20_000,
  );
});

describe("a value that is another one each time it is read is judged as it is written", () => {
  /** Gives the values in turn, and the last one for ever. */
  const inTurn = (...values: readonly unknown[]): (() => unknown) => {
    let reads = 0;
    return () => values[Math.min(reads++, values.length - 1)];
  };
  const getter = (name: string, read: () => unknown, more: object = {}): object =>
    Object.defineProperty({ ...more }, name, { get: read, enumerable: true });

  // The value may be read several times before the one that is written, so the secret comes at each of the first reads once.
  test.each([1, 2, 3, 4])("from its read %i on", (ordinary) => {
    const harmless = <Value>(value: Value): Value[] => Array<Value>(ordinary).fill(value);
    const proxyOf = (read: () => unknown): object =>
      new Proxy({ note: 1 }, { get: (target, key) => (key === "note" ? read() : Reflect.get(target, key)) });
    let reads = 0;
    const otherKeys = new Proxy(
      {},
      {
        ownKeys: () => (reads++ < ordinary ? ["note"] : ["p-w"]),
        getOwnPropertyDescriptor: () => ({ value: SECRET, enumerable: true, configurable: true }),
        get: (_, key) => (key === "p-w" ? SECRET : key === "note" ? "a note" : undefined),
      },
    );
    const inner = { "p-w": SECRET };
    const values: unknown[] = [
      getter("note", inTurn(...harmless("a note"), `Bearer ${SECRET}`)),
      proxyOf(inTurn(...harmless("a note"), `Bearer ${SECRET}`)),
      [getter("note", inTurn(...harmless(1), inner))],
      new Proxy([1], { get: (list, key) => (key === "0" && reads++ >= ordinary ? inner : Reflect.get(list, key)) }),
      getter("note", inTurn(...harmless(1), inner), { at: new Date(0) }),
      otherKeys,
      { tokens: getter("a", inTurn(...harmless(12), SECRET)) },
      [getter("name", inTurn(...harmless("note"), "Cookie"), { value: 12, at: new Date(0) })],
    ];
    for (const value of values) expect(text(value)).not.toInclude(SECRET);
    const entry = getter("name", inTurn(...harmless("note"), "Cookie"), { value: SECRET, at: new Date(0) });
    expect(text(entry)).toMatch(/"name":"note"|"value":"redacted:/);
    const header = new Proxy(["a", SECRET], {
      get: (list, key) => (key === "0" && reads++ >= ordinary ? "Cookie" : Reflect.get(list, key)),
    });
    expect(text({ headers: [header], at: new Date(0) })).toMatch(/\["a",|"redacted:/);
  });
});
