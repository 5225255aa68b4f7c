import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { byPrefix, createNaiveServer } from "./naive";
import { isChange, type Operation, operations, perform, performFromOutside, type Told } from "./operations";
import { attack, createYard, SECRET, ways, type Yard } from "./yard";

type Kind = Extract<Told, { ok: false }>["error"]["kind"];

/** Paths that no operation ever takes, and what each is told. */
function refusedPaths(yard: Yard): [name: string, path: unknown, kind: Kind][] {
  const { root, outside, place } = yard;
  const long = "x".repeat(256);
  return [
    ["..", "..", "outside-root"],
    [".. and a slash", "../", "outside-root"],
    [".. at the beginning", "../outside/secret.txt", "outside-root"],
    [".. in the middle", "a/../../outside/secret.txt", "outside-root"],
    [".. that stays inside", "a/../file.txt", "outside-root"],
    [".. at the end", "a/b/..", "outside-root"],
    [".. after a dot", "./../outside/secret.txt", "outside-root"],
    [".. after doubled slashes", "a//..//..//outside/secret.txt", "outside-root"],
    [".. below a file", "file.txt/../../outside/secret.txt", "outside-root"],
    [".. below what is not there", "nothing/../../outside/secret.txt", "outside-root"],
    ["a sibling that shares the root's prefix", "../ws-secret/secret.txt", "outside-root"],
    ["an absolute path", join(outside, "secret.txt"), "outside-root"],
    ["the absolute path of a sibling that shares the prefix", `${place}/ws-secret/secret.txt`, "outside-root"],
    ["the root's own absolute path", root, "outside-root"],
    ["an absolute path below the root", `${root}/file.txt`, "outside-root"],
    ["a slash", "/", "outside-root"],
    ["two slashes", `/${outside}/secret.txt`, "outside-root"],
    ["/proc/self/root", `/proc/self/root${outside}/secret.txt`, "outside-root"],
    ["/proc/self/cwd", "/proc/self/cwd/package.json", "outside-root"],
    ["/dev/zero", "/dev/zero", "outside-root"],
    ["a NUL at the end", "file.txt\0", "invalid-path"],
    ["a NUL before an ending", "file.txt\0.png", "invalid-path"],
    ["a NUL at the beginning", "\0../outside/secret.txt", "invalid-path"],
    ["a NUL alone", "\0", "invalid-path"],
    ["a name of 256 bytes", long, "invalid-path"],
    ["a name of 256 bytes in the middle", `a/${long}/x`, "invalid-path"],
    ["a name of 128 letters with 256 bytes", "é".repeat(128), "invalid-path"],
    ["a path of 4,096 bytes", `${"d/".repeat(2_047)}xx`, "invalid-path"],
    ["a path of 4,096 bytes of slashes", `a${"/".repeat(4_095)}`, "invalid-path"],
    ["a path of 100,000 bytes", "d/".repeat(50_000), "invalid-path"],
    ["a path of 2,100 letters with more than 4,096 bytes", "é/".repeat(1_400), "invalid-path"],
    ["half of a surrogate pair", "a\ud800.txt", "invalid-path"],
    ["the other half", "\udc00", "invalid-path"],
  ];
}

/** Values that are no texts, and so no paths. */
const noText: [name: string, path: unknown][] = [
  ["a number", 7],
  ["NaN", Number.NaN],
  ["null", null],
  ["true", true],
  ["an array of one path", ["../outside/secret.txt"]],
  ["an array", ["a", "b"]],
  ["an object", {}],
  ["an object that says a path", { toString: () => "../outside/secret.txt" }],
  ["an object that says a path below the root", { toString: () => "file.txt" }],
  ["an object that is worth a path", { valueOf: () => "file.txt" }],
  ["an object without a prototype", Object.create(null)],
  [
    "an object that throws",
    {
      toString() {
        throw new Error("no");
      },
    },
  ],
  ["a String object", new String("file.txt")],
  ["a symbol", Symbol("file.txt")],
  ["a bigint", 7n],
  ["a function", () => "file.txt"],
  ["bytes", Buffer.from("file.txt")],
  ["a URL", new URL("file:///etc/passwd")],
];

/** Names that only look like a way out: each is a name like any other, and nothing has it. */
const plainNames: [name: string, path: string][] = [
  ["backslashes", "..\\..\\outside\\secret.txt"],
  ["a backslash after a name", "a\\..\\..\\outside"],
  ["a percent-encoded ..", "%2e%2e/outside"],
  ["a percent-encoded slash", "..%2foutside%2fsecret.txt"],
  ["a doubly encoded ..", "%252e%252e%252f"],
  ["a tilde", "~"],
  ["a tilde and a user", "~root/secret.txt"],
  ["three dots", ".../outside"],
  ["two dots and a space", ".. /outside"],
  ["a space and two dots", " ../outside"],
  ["two dots in a name", "a..b/..c"],
  ["a full-width ..", "．．/outside"],
  ["a one dot leader", "․․/outside"],
  ["a division slash", "..∕outside"],
  ["an overlong look of a slash", "..À¯outside"],
  ["right-to-left marks", "\u202e..\u202c/outside"],
  ["a zero-width space within ..", ".\u200b./outside"],
  ["a soft hyphen", "fi\u00adle.txt"],
  ["a byte order mark", "\ufefffile.txt"],
  ["a drive", "C:/outside"],
  ["a device of another system", "NUL"],
  ["a stream of another system", "file.txt::$DATA"],
  ["a URL", "file:///etc/passwd"],
  ["a newline", "file.txt\n"],
  ["shell words", "$(touch x);`touch y`|z"],
  ["an environment variable", "$HOME/x"],
  ["a dash", "-rf"],
  ["a glob", "*"],
  ["the staging directory in other letters", ".envoi2/lock"],
];

function expectRefusal(told: Told, kind: Kind, given: unknown, yard: Yard): void {
  if (told.ok) throw new Error(`served: ${JSON.stringify(told.value)}`);
  expect(told.error.kind).toBe(kind);
  // A path that the caller knew may be told back; nothing else of the host is.
  const shown = JSON.stringify(told).replaceAll(JSON.stringify(given)?.slice(1, -1) || "\0", "");
  expect(shown.replaceAll(JSON.stringify(JSON.stringify(given) ?? "").slice(3, -3) || "\0", "")).not.toContain(
    yard.place,
  );
  expect(shown).not.toContain(SECRET);
}

const shownAs = (path: string): string => (path.length > 4_095 ? `${path.slice(0, 80)}…` : path.toWellFormed());

describe.each(ways)("paths, by %s", (resolution) => {
  test.each(operations)("$name: no path leads out of the root", async (operation) => {
    using yard = createYard();
    const inside = new Set(readdirSync(yard.root));
    await attack(yard, { resolution }, async (serving) => {
      for (const [name, path, kind] of refusedPaths(yard)) {
        const told = await perform(serving.files, operation, path);
        expect({ name, ok: told.ok }).toEqual({ name, ok: false });
        expectRefusal(told, kind, path, yard);
        if (!told.ok && Buffer.byteLength(path as string) <= 4_095)
          expect(told.error.path).toBe(shownAs(path as string));
        if (!(path as string).isWellFormed()) continue; // No JSON of it comes through a pipe.
        const outside = await performFromOutside(serving, operation, path);
        if (outside === "invalid-payload") throw new Error("The schema of a path is a text.");
        expectRefusal(outside, kind, path, yard);
      }
    });
    expect(new Set([...inside, ".envoi", ...readdirSync(yard.root)])).toEqual(new Set([...inside, ".envoi"]));
  });

  test.each(operations)("$name: what is no text is no path", async (operation) => {
    using yard = createYard();
    await attack(yard, { resolution }, async (serving) => {
      for (const [name, path] of noText) {
        const told = await perform(serving.files, operation, path).catch(({ kind }) => kind);
        expect({ name, told }).toEqual({ name, told: "invalid-payload" });
      }
      for (const path of [7, null, true, [], ["a"], {}, { path: "file.txt" }]) {
        expect({ path, told: await performFromOutside(serving, operation, path) }).toEqual({
          path,
          told: "invalid-payload",
        });
      }
    });
  });

  test.each(operations)(
    "$name: a name that only looks like a way out is a name",
    async (operation) => {
      using yard = createYard();
      await attack(yard, { resolution }, async ({ files }) => {
        for (const [name, path] of plainNames) {
          yard.put("file.txt", "inside"); // It may have been moved.
          const told = await perform(files, operation, path);
          expect(JSON.stringify(told)).not.toContain(SECRET);
          expect(JSON.stringify(told)).not.toContain(yard.place);
          if (told.ok) continue;
          expect({ name, kind: told.error.kind }).toEqual({ name, kind: expect.stringMatching(/not-found|changed/) });
          expect(told.error.path).toBe(path);
        }
      });
    },
    240_000,
  );

  test("a name of 255 bytes and a path of 4,095 bytes are served where the file system has them", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      const name = "x".repeat(255);
      for (const path of [name, "é".repeat(127), `${`${"d".repeat(255)}/`.repeat(15)}${"y".repeat(255)}`]) {
        expect((await files.ask("write", { path, content: "it" }))._unsafeUnwrap()).toMatchObject({ ok: true });
        expect((await files.ask("read", { path }))._unsafeUnwrap()).toMatchObject({
          ok: true,
          value: { content: "it" },
        });
      }
    });
  });

  test("NFC and NFD are two names, as they are two on the disk", async () => {
    using yard = createYard();
    const [nfc, nfd] = ["\u00e9.txt", "e\u0301.txt"];
    await attack(yard, { resolution }, async ({ files }) => {
      await files.ask("write", { path: nfc, content: "composed" });
      await files.ask("write", { path: nfd, content: "decomposed" });
      const read = async (path: string) => (await files.ask("read", { path }))._unsafeUnwrap();
      expect(await read(nfc)).toMatchObject({ value: { content: "composed" } });
      expect(await read(nfd)).toMatchObject({ value: { content: "decomposed" } });
    });
    expect(readdirSync(yard.root)).toContain(nfc);
    expect(readdirSync(yard.root)).toContain(nfd);
  });

  test("the root itself is a directory: it is not read, written, moved, copied into itself or deleted", async () => {
    for (const path of ["", "././/."]) {
      for (const operation of operations) {
        using yard = createYard();
        await attack(yard, { resolution }, async ({ files }) => {
          const told = await perform(files, operation, path);
          const name = `${operation.name} ${JSON.stringify(path)}`;
          if (!isChange(operation) && operation.needs !== "file") {
            expect({ name, ok: told.ok }).toEqual({ name, ok: true });
            return;
          }
          expect({ name, ok: told.ok && isNoChange(operation, told.value) }).toEqual({
            name,
            ok: isNoChange(operation),
          });
          expect(JSON.stringify(told)).not.toContain(yard.place);
          expect(
            readdirSync(yard.root)
              .filter((entry) => entry !== ".envoi")
              .sort(),
          ).toEqual(["a", "c", "file.txt"]);
        });
      }
    }
  }, 240_000);

  test("trailing and doubled slashes and dots name what POSIX says", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      for (const path of ["a//b/deep.txt", "./a/./b//deep.txt", "a/b/./deep.txt", "././/a/b/deep.txt"]) {
        const told = (await files.ask("read", { path }))._unsafeUnwrap();
        expect(told).toMatchObject({ ok: true, value: { content: "inside" } });
      }
      for (const path of ["file.txt/", "file.txt/.", "file.txt//", "a/b/deep.txt/./"]) {
        for (const operation of operations.filter(({ needs }) => needs === "file")) {
          const told = await perform(files, operation, path);
          expect({ path, kind: told.ok ? "served" : told.error.kind }).toEqual({
            path,
            kind: expect.stringMatching(/is-directory|not-a-directory|changed/),
          });
        }
      }
    });
  });

  test("nobody is served the staging directory, however it is written", async () => {
    for (const operation of operations) {
      using yard = createYard();
      await attack(yard, { resolution }, async ({ files }) => {
        await files.ask("write", { path: "first.txt", content: "so that there is one" });
        const inside = readdirSync(join(yard.root, ".envoi")).sort();
        for (const path of [
          ".envoi",
          ".envoi/",
          "./.envoi",
          ".//.envoi/lock",
          ".envoi/lock",
          ".envoi/.gitignore",
          ".envoi/new/x",
        ]) {
          const told = await perform(files, operation, path);
          const name = `${operation.name} ${path}`;
          if (operation.operation === "exists" && told.ok)
            expect({ name, value: told.value }).toEqual({ name, value: false });
          else expect({ name, kind: told.ok ? "served" : told.error.kind }).toEqual({ name, kind: "denied" });
        }
        expect(readdirSync(join(yard.root, ".envoi")).sort()).toEqual(inside);
      });
    }
  }, 240_000);
});

/** Making the root anew is nothing to do, as anything that is there. */
const isNoChange = ({ operation }: Operation, value?: unknown): boolean =>
  operation === "mkdir" && (value === undefined || (value as { created: boolean }).created === false);

test("a check of the path alone loses: a sibling that shares the root's prefix", () => {
  using yard = createYard();
  const naive = createNaiveServer(yard.root, byPrefix);
  expect(naive.read("../ws-secret/secret.txt")).toContain(SECRET);
});
