import { afterEach, describe, expect, test } from "bun:test";
import { Volume } from "memfs";
import { createSystem, type System } from "../../src/index";
import { type McpServing, type ServeMcpOptions, serveMcp } from "../../src/mcp/index";
import { spawnFileSystem } from "../../src/tools/index";
import { createDesk, Desk, send } from "./desk";

const systems: System[] = [];
afterEach(async () => {
  for (const system of systems.splice(0)) await system.shutdown();
});

/** On the machine's clock, by which a file actor pauses in long work. */
function makeSystem(): System {
  const system = createSystem();
  systems.push(system);
  return system;
}

const FILES = {
  "/home/notes/tea.md": "# Tea\n",
  "/home/notes/deep/a b/ünï.txt": "far down",
  "/home/notes/dot.png": Buffer.from([137, 80, 78, 71, 255, 0, 254]),
  "/home/notes/plain": "no ending",
  "/home/secret.txt": "outside",
};

async function serveFiles(more: Partial<ServeMcpOptions["files"]> = {}) {
  const system = makeSystem();
  const volume = Volume.fromJSON(FILES as never); // Buffers are taken, too.
  volume.symlinkSync("/home/secret.txt", "/home/notes/link.txt");
  const notes = spawnFileSystem(system, { root: "/home/notes", volume });
  const files = { notes, ...more } as NonNullable<ServeMcpOptions["files"]>; // None of them is undefined.
  return { system, notes, mcp: await serveMcp(system, { name: "files", version: "1", files }) };
}

interface Listed {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly mimeType?: string;
  readonly size?: number;
}

const pageOf = async (mcp: McpServing, cursor?: string) => {
  const { result } = await send(mcp, "resources/list", cursor === undefined ? {} : { cursor });
  return result as unknown as { resources: readonly Listed[]; nextCursor?: string }; // The tests look at the parts.
};

const read = (mcp: McpServing, uri: string) => send(mcp, "resources/read", { uri });

describe("files as resources", () => {
  test("are listed by the name of their root, and not by a path of the host", async () => {
    const { mcp } = await serveFiles();
    const { resources, nextCursor } = await pageOf(mcp);
    expect(resources.map(({ uri }) => uri).toSorted()).toEqual([
      "files://notes/deep/a%20b/%C3%BCn%C3%AF.txt",
      "files://notes/dot.png",
      "files://notes/plain",
      "files://notes/tea.md",
    ]);
    expect(resources.find(({ name }) => name === "tea.md")).toEqual({
      uri: "files://notes/tea.md",
      name: "tea.md",
      title: "tea.md",
      mimeType: "text/markdown",
      size: 6,
    });
    expect(nextCursor).toBeUndefined();
  });

  test("are listed page by page, root by root", async () => {
    const { system, mcp: first } = await serveFiles();
    await first.close();
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`/many/${n}.txt`, `${n}`]));
    const [a, b] = ["a", "b"].map((name) =>
      spawnFileSystem(system, { name, root: "/many", volume: Volume.fromJSON(many) }),
    );
    const mcp = await serveMcp(system, { name: "files", version: "1", files: { a, b } as never }); // Two actors.
    const seen = new Set<string>();
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await pageOf(mcp, cursor);
      for (const { uri } of page.resources) seen.add(uri);
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined && pages < 20);
    expect([seen.size, pages]).toEqual([500, 6]);
  });

  test("are read as text, and as base64 where they are none", async () => {
    const { mcp } = await serveFiles();
    const contents = async (uri: string) => Object(Object((await read(mcp, uri)).result)["contents"])[0]; // It has one.
    expect(await contents("files://notes/tea.md")).toEqual({
      uri: "files://notes/tea.md",
      mimeType: "text/markdown",
      text: "# Tea\n",
    });
    expect(await contents("files://notes/deep/a%20b/%C3%BCn%C3%AF.txt")).toMatchObject({ text: "far down" });
    expect(await contents("files://notes/plain")).toMatchObject({ mimeType: "text/plain", text: "no ending" });
    expect(await contents("files://notes/dot.png")).toMatchObject({ mimeType: "image/png", blob: "iVBOR/8A/g==" });
  });

  test("have templates, and a beginning that their owner names", async () => {
    const system = makeSystem();
    const ref = spawnFileSystem(system, { root: "/home/notes", volume: Volume.fromJSON(FILES as never) });
    const files = { notes: { ref, uri: "memo://", description: "Notes." } };
    const mcp = await serveMcp(system, { name: "files", version: "1", files });
    const { result } = await send(mcp, "resources/templates/list");
    expect(result).toMatchObject({
      resourceTemplates: [{ name: "notes", uriTemplate: "memo://{+path}", description: "Notes." }],
    });
    expect((await read(mcp, "memo://tea.md")).result).toMatchObject({ contents: [{ text: "# Tea\n" }] });
  });
});

describe("P18: what is no such file", () => {
  test.each([
    "files://notes/none.md",
    "files://notes/../secret.txt",
    "files://notes/%2e%2e/secret.txt",
    "files://notes/..%2Fsecret.txt",
    "files://notes//home/secret.txt",
    "files://notes/deep",
    "files://notes/%",
    "files://notes/a%00b",
    "files://other/tea.md",
    "file:///home/secret.txt",
    "/home/secret.txt",
    `files://notes/${"a".repeat(10_000)}`,
  ])("is told in one way, without a path of the host: %#", async (uri) => {
    const { mcp } = await serveFiles();
    const { error } = await read(mcp, uri);
    expect([error?.code, error?.message]).toEqual([-32_602, "There is no such resource."]);
  });

  test("is refused where it is a link that leads out", async () => {
    const { mcp } = await serveFiles();
    const { error, result } = await read(mcp, "files://notes/link.txt");
    expect([error?.code, result]).toEqual([-32_602, undefined]);
  });

  test("a cursor that this server did not give", async () => {
    const { mcp } = await serveFiles();
    for (const cursor of ["", "a", Buffer.from("7:").toString("base64url"), "a".repeat(10_000)]) {
      expect([cursor, (await send(mcp, "resources/list", { cursor })).error?.code]).toEqual([cursor, -32_602]);
    }
  });
});

test.each([
  [{ "a b": null }, /No files can be served as "a b"/],
  [{ notes: { ref: null, uri: "no uri" } }, /is the beginning of URIs/],
  [{ notes: { ref: null, uir: "a://" } }, /no option "uir"/],
])("files such as %j are refused at the start", async (files, sentence) => {
  const { system, notes } = await serveFiles();
  const given = Object.fromEntries(
    Object.entries(files).map(([name, entry]) => [name, entry === null ? notes : { ...entry, ref: notes }]),
  );
  expect(serveMcp(system, { name: "f", version: "1", files: given })).rejects.toThrow(sentence);
  const desk = system.spawn("desk", Desk, createDesk);
  expect(serveMcp(system, { name: "f", version: "1", files: { desk } })).rejects.toThrow("no file actor");
  const twice = { a: { ref: notes, uri: "x://" }, b: { ref: notes, uri: "x://" } };
  expect(serveMcp(system, { name: "f", version: "1", files: twice })).rejects.toThrow("Two roots of files");
});
