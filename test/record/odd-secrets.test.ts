import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createSystem, defineProtocol, Type } from "../../src/index";
import { recorder, redact, type Transform } from "../../src/record/index";
import { ValueWriter } from "../../src/record/values/value-writer";
import { folders } from "./recorded";

const folder = folders();
const SECRET = "Zq7hunter2Xv";
const PLACE = { address: "@(a)", operation: "o", part: "payload" } as const;

const written = (value: unknown): string => new ValueWriter({ key: "k" }).text(value, PLACE);

/** Each in a text alone, and in a text of JSON that is cut off. */
const TEXTS: Record<string, readonly string[]> = {
  "a command line": [
    `curl -u ada:${SECRET} https://example.com`,
    `curl -sS -u 'ada:${SECRET}' https://example.com`,
    `curl -su ada:${SECRET} x`,
    `curl -uada:${SECRET} x`,
    `curl -X POST \\\n  -U ada:${SECRET} x`,
    `/usr/bin/curl --user "ada:${SECRET}" x`,
    `curl --proxy-user=ada:${SECRET} x`,
    `spawn("curl", ["-u", "ada:${SECRET}"])`,
    `sshpass -p ${SECRET} ssh host`,
    `sshpass -p'${SECRET}' ssh host`,
    `mysql -u root -p${SECRET} shop`,
    `mysqldump -uroot -p'${SECRET}' shop`,
    `redis-cli -h cache -a ${SECRET} ping`,
    `docker login -u ada -p ${SECRET} example.com`,
    `podman login -p "${SECRET}" example.com`,
    `docker login -u ada -p${SECRET} example.com`,
    `docker --debug --config=/tmp/x login -p ${SECRET}`,
    `spawn("docker", ["login", "-u", "ada", "-p", "${SECRET}"])`,
    `curl -u ada:'${SECRET}' x`,
    `curl -u "ada":"${SECRET}" x`,
    `curl -u "ada":${SECRET} x`,
  ],
  "a text with entities of HTML": [
    `password=&quot;${SECRET}&quot;`,
    `{&#34;password&#34;:&#34;${SECRET}&#34;}`,
    `&#x22;password&#X22;: &#x22;${SECRET}&#x22;`,
    `&#112;ass&#119;ord=${SECRET}`,
    `&lt;password&gt;${SECRET}&lt;/password&gt;`,
    `&amp;lt;password&amp;gt;${SECRET}`,
    `password&equals;${SECRET}`,
    `Bearer&nbsp;${SECRET}`,
    `https&colon;&sol;&sol;ada:${SECRET}&commat;host`,
  ],
  "a text with escapes": [
    `{"p\\u0061ssword":"${SECRET}",`,
    `log: {"p\\u0061ssword":"${SECRET}"}`,
    `said "{\\u0022password\\u0022:\\u0022${SECRET}\\u0022}"`,
    `\\\\u0070assword\\\\u003d${SECRET}`,
    `Bearer\\u0020${SECRET}`,
    `"\\x70assword\\x3d${SECRET}"`,
    `"\\u{70}assword\\u{3d}${SECRET}"`,
    `{"url":"https:\\/\\/ada:${SECRET}@host",`,
  ],
  "a .netrc": [
    `machine example.com login ada password ${SECRET}`,
    `machine example.com\n  login ada\n  password ${SECRET}\n`,
    `machine example.com login ada account x password ${SECRET}`,
    `machine example.com password ${SECRET}`,
    `default login ada password ${SECRET}`,
  ],
  "a private key without an end": [`-----BEGIN PRIVATE KEY-----\n${SECRET}\n`],
  "JSON that is nested too deep to be read": [`${"[".repeat(120)}{"password":"${SECRET}"}${"]".repeat(120)}`],
  "a statement of SQL": [
    `CREATE USER ada IDENTIFIED BY '${SECRET}'`,
    `ALTER USER ada IDENTIFIED WITH sha256_password BY '${SECRET}'`,
    `ALTER ROLE ada WITH PASSWORD '${SECRET}'`,
    `ALTER ROLE ada PASSWORD 'it''s ${SECRET}'`,
  ],
  "words that are percent-encoded, none of which says it alone": [
    `machine%20example.com login ada password ${SECRET}`,
    `curl%20-u ada:${SECRET}`,
  ],
  "escapes of HTML": [
    `password&#61;${SECRET}`,
    `api_key&#x3d;${SECRET}&amp;page&#61;2`,
    `&quot;password&quot;:&quot;${SECRET}&quot;`,
    `&amp;quot;password&amp;quot;: &amp;quot;${SECRET}&amp;quot;`,
    `a &lt;password&gt;${SECRET}&lt;/password&gt;`,
  ],
  "escapes of JSON in a text that is none": [
    `say {"pass\\u0077ord":"${SECRET}"} now`,
    `say {\\u0022token\\u0022:\\u0022${SECRET}\\u0022} now`,
    `"{\\\\u0022token\\\\u0022:\\\\u0022${SECRET}\\\\u0022}" and more`,
  ],
  "an entry": [
    `- name: DB_PASSWORD\n  value: ${SECRET}\n`,
    `- name: DB_PASSWORD\n  value: "${SECRET}"\n`,
    `[{"name":"password","value":"${SECRET}"},`,
    `[{"ParameterKey":"Password","ParameterValue":"${SECRET}"},`,
    `<add key="password" value="${SECRET}"/>`,
    `<input type="password" name="password" value="${SECRET}">`,
  ],
  "a name that looks like another one": [
    `ｐａｓｓｗｏｒｄ: ${SECRET}`,
    `pass\u200bword=${SECRET}`,
    `to\u200bken=${SECRET}`,
    `pass\u00adword：${SECRET}`,
    `{"ｔｏｋｅｎ":"${SECRET}", `,
  ],
};

describe("a secret in a text is redacted", () => {
  for (const [name, texts] of Object.entries(TEXTS)) {
    test.each(texts)(`${name}: %s`, (text) => {
      expect(written(text)).not.toContain(SECRET);
      expect(written({ log: [`ran: ${text}`, text] })).not.toContain(SECRET);
      expect(written(JSON.stringify({ text }))).not.toContain(SECRET);
    });
  }

  test("and what stands around it is written", () => {
    const hash = "redacted:[\\w-]{22}";
    const whole = (pattern: string) => new RegExp(`^"${pattern}"$`);
    expect(written(`curl -u ada:${SECRET} https://example.com`)).toMatch(
      whole(`curl -u ada:${hash} https://example\\.com`),
    );
    expect(written(`mysql -u root -p${SECRET} shop`)).toMatch(whole(`mysql -u root -p${hash} shop`));
    expect(written(`machine a login ada password ${SECRET}\nmachine b`)).toMatch(
      whole(`machine a login ada password ${hash}\\\\nmachine b`),
    );
    expect(written(`- name: TOKEN\n  value: ${SECRET}\n- name: PORT\n  value: 80`)).toMatch(
      whole(`- name: TOKEN\\\\n {2}value: ${hash}\\\\n- name: PORT\\\\n {2}value: 80`),
    );
  });

  test("as one: what stands in the value of an option is no option", () => {
    expect(written(`curl -u 'ada:a -u b:${SECRET}' x`)).toMatch(/^"curl -u 'ada:redacted:[\w-]{22}' x"$/);
  });

  test("unless its default is switched off", () => {
    const writer = new ValueWriter({ keep: ["passwords", "keys"] });
    const lists = [
      ["sshpass", "-p", SECRET],
      ["--password", SECRET],
      ["-----BEGIN PRIVATE KEY-----", SECRET],
      `curl -u a:${SECRET}`,
    ];
    for (const value of [...lists, `machine a password ${SECRET}`, `name: password\nvalue: ${SECRET}`]) {
      expect(writer.text(value, PLACE)).toBe(JSON.stringify(value));
    }
  });

  test("once: a redacted command is redacted to itself", () => {
    const once = written([`curl -u ada:${SECRET} x`, `sshpass -p ${SECRET} x`, `machine a password ${SECRET}`]);
    expect(written(JSON.parse(once))).toBe(once);
  });
});

describe("a field of a form is redacted by its name", () => {
  const part = (head: string, body: string) => `--X\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  const form = `${part('name="user"', "ada")}${part('name="password"', SECRET)}${part('name="note"', "hi")}--X--\r\n`;

  test("in the body of a request as a text, and no other field is", () => {
    expect(JSON.parse(written(form))).toMatch(
      /^--X\r\nContent-Disposition: form-data; name="user"\r\n\r\nada\r\n--X\r\nContent-Disposition: form-data; name="password"\r\n\r\nredacted:[\w-]{22}\r\n--X\r\nContent-Disposition: form-data; name="note"\r\n\r\nhi\r\n--X--\r\n$/,
    );
  });

  test("with more header fields, with a file, of several lines, without an end", () => {
    const file = `name="privateKey"; filename="key"\r\nContent-Type: text/plain`;
    expect(written(part(file, `first\r\n${SECRET}`))).not.toContain(SECRET);
    expect(written(part("name=apiKey", SECRET).trimEnd())).not.toContain(SECRET);
    expect(written(part('name="password"', SECRET).replaceAll("\r", ""))).not.toContain(SECRET);
  });
});

describe("a secret in a value is redacted", () => {
  const VALUES: Record<string, unknown> = {
    "the words of curl": ["curl", "-s", "-u", `ada:${SECRET}`, "https://example.com"],
    "the words of curl, the value beside its option": ["/usr/bin/curl", `-uada:${SECRET}`],
    "a long option of curl": ["curl", "--user", `ada:${SECRET}`],
    "the words of sshpass": ["sshpass", "-p", SECRET, "ssh", "host"],
    "one word of sshpass": { argv: ["sshpass", `-p${SECRET}`, "ssh"] },
    "the words of docker": ["docker", "login", "-u", "ada", "-p", SECRET, "example.com"],
    "the words of podman": ["/usr/bin/podman", "login", `-p${SECRET}`],
    "the words of mysql": ["mysql", "-uroot", `-p${SECRET}`, "shop"],
    "the words of redis-cli": ["redis-cli", "-a", SECRET],
    "the words of docker, with an option before": [
      "docker",
      "--debug",
      "login",
      "-u",
      "ada",
      "-p",
      SECRET,
      "example.com",
    ],
    "a private key in lines": [
      "-----BEGIN PRIVATE KEY-----",
      `MIIE${SECRET}`,
      `${SECRET}==`,
      "-----END PRIVATE KEY-----",
    ],
    "a private key that has no end": ["# key", "-----BEGIN RSA PRIVATE KEY-----", SECRET],
    "a full-width name": { ｐａｓｓｗｏｒｄ: SECRET },
    "a full-width name in an entry": [["ｔｏｋｅｎ", SECRET]],
    "parameters of a stack": [{ ParameterKey: "Password", ParameterValue: SECRET }],
    "options of a stack": [{ OptionName: "DBPassword", OptionValue: SECRET }],
    "a header field by its parts": { headerName: "Authorization", headerValue: SECRET },
    "a name that is long": { [`${"x".repeat(80)}_password`]: SECRET },
    "a variable": { variable: "DB_PASSWORD", value: SECRET },
    "an entry by its id": { id: "password", val: SECRET },
    "an entry of single letters": { k: "token", v: SECRET },
    "an entry with several values": { Name: "password", Values: [SECRET] },
    "the value before its name": { value: SECRET, name: "password" },
    "a value below auth": { auth: { type: "basic", value: SECRET } },
    "a number below a pin": { pin: { value: 7_251_983 } },
    "a text object below auth": { auth: { data: new String(SECRET) } },
  };
  for (const [name, value] of Object.entries(VALUES)) {
    test(name, () => {
      for (const shape of [value, JSON.stringify(value)]) {
        expect(written(shape)).not.toContain(SECRET);
        expect(written(shape)).not.toContain("7251983");
      }
    });
  }

  test("and a port of a container is written", () => {
    const words = ["docker", "run", "-p", "8080:80", "image"];
    expect(written(words)).toBe(JSON.stringify(words));
  });

  test("and what follows a private key in lines is written", () => {
    const lines = ["a", "-----BEGIN PRIVATE KEY-----", SECRET, "-----END PRIVATE KEY-----", "b"];
    expect(written(lines)).toMatch(/^\["a",(?:"redacted:[\w-]{22}",){3}"b"\]$/);
  });
});

describe("what only looks alike is written as it is", () => {
  const ORDINARY: readonly unknown[] = [
    "docker run -u 1000:1000 -p 80:80 image",
    "mysql -u root -p shop",
    'spawn("mysql", ["-p", "shop"])',
    "curl -H 'Accept: text/html' -o file example.com",
    "curl -u ada example.com",
    "curl example.com\ndocker run -u 1000:1000 image",
    "read about curl: it has an option for users",
    ["curl", "-o", "file", "-H", "accept: text/html"],
    ["docker", "-u", "1000:1000"],
    ["docker", "run", "-p", "80:80", "image"],
    ["login", "-p", "80:80"],
    "docker run --name login -p 80:80 image",
    'curl -u "ada": x',
    "&lt;p&gt;the token&nbsp;count &#38; the password&#x2e;&lt;/p&gt;",
    "C:\\users\\u0061da \\x41 \\/ pass &copy; &#0; &#99999999; \\u{ffffff}",
    ["mysql", "-p", "shop"],
    "a login and password are needed by each machine here",
    "the default password must be changed",
    "a machine has a password prompt",
    `--X\r\nContent-Disposition: form-data; name="user"\r\n\r\nada\r\n--X--`,
    '<Input name="password" value={password} />',
    "name: password\ntype: string",
    "name: PORT\nvalue: 80\n",
    `name: password\nnote: ${"long ".repeat(40)}\nvalue: plain`,
    "全角の文字：値",
    "a\u200bb: c",
    ["-----BEGIN CERTIFICATE-----", "MIIE", "-----END CERTIFICATE-----"],
    [{ name: "size", value: "12" }],
    { id: 7, value: "x" },
    { auth: { type: "basic" } },
    { pass: { seats: 2 } },
    { tokens: { value: 12 } },
  ];
  test.each(ORDINARY.map((value) => [JSON.stringify(value), value] as const))("%s", (json, value) => {
    expect(written(value)).toBe(json);
  });
});

describe("such texts take time in proportion to their length", () => {
  const MEGABYTE = 1_000_000;
  test.each([
    ...["curl ", "curl \n", "curl -u ", "curl -u a:b ", 'curl -u "', "sshpass -p ", "mysql -p'", "\\\n", "curl \\\n"],
    ...["machine ", "machine a password ", "default login ", "password 'a ", "identified by ''", "identified with a "],
    ...[
      "content-disposition: ",
      "content-disposition: name=a;",
      "name: ",
      "name: password ",
      "value: ",
      "\u200b",
      "ｐ",
    ],
    ...["&#112;", "&amp;", "&", "\\u0070", "\\/", "\\x70assword=", "docker ", "docker --a ", "docker --a=b login -p "],
    ...["curl -u a:'", 'curl -u "a":"', "curl -u a:''"],
    ...['content-disposition: x; name="password"\n\n', "-----BEGIN PRIVATE KEY-----\n"],
  ])(
    "%j",
    (piece) => {
      const writer = new ValueWriter({ key: "k", limits: { text: 3 * MEGABYTE, value: 30 * MEGABYTE } });
      const note = `password curl: ${piece.repeat(Math.ceil(MEGABYTE / piece.length))}`;
      JSON.parse(writer.text({ note, list: note.split(" ").slice(0, 10_000) }, PLACE));
    },
    20_000,
  );
});

describe("what the defaults do not see is written, as SECURITY.md says, and a transform leaves it out", () => {
  const UNSEEN: Record<string, unknown> = {
    "a command and its words in two members": { command: "curl", args: ["-u", `ada:${SECRET}`] },
    "other short options": `curl -b sid=${SECRET} -E cert.pem:${SECRET} -x ada:${SECRET}@proxy example.com`,
    "the body of a form in a text of JSON that is cut off": JSON.stringify({
      body: `--X\r\nContent-Disposition: form-data; name="password"\r\n\r\n${SECRET}\r\n--X--\r\n`,
    }).slice(0, -1),
    "a value without a name": `echo ${SECRET} | docker login --password-stdin; auth=("ada", "${SECRET}")`,
    "an option of another command": `zip -P ${SECRET} a.zip; http -a ada:${SECRET} example.com`,
    "halves in two items of a list": ["Bearer ", SECRET],
  };
  for (const [name, value] of Object.entries(UNSEEN)) {
    test(name, () => {
      expect(written(value)).toContain(SECRET);
      expect(new ValueWriter({ transforms: [redact("payload")] }).text(value, PLACE)).not.toContain(SECRET);
    });
  }

  test("halves in two items of a stream", async () => {
    const Model = defineProtocol("model", { write: { stream: Type.String() } });
    const record = async (transforms: Transform[]): Promise<string> => {
      const to = `${folder()}/run.ndjson`;
      const system = createSystem();
      recorder(system, { to, transforms });
      const model = system.spawn("model", Model, () => ({
        *write() {
          yield* ["the key: Bea", "rer ", SECRET];
        },
      }));
      expect(await Array.fromAsync(model.stream("write"))).toHaveLength(3);
      await system.shutdown();
      return readFileSync(to, "utf8");
    };
    expect(await record([])).toContain(SECRET);
    expect(await record([redact("item", { actor: "@(model)" })])).not.toContain(SECRET);
  });
});
