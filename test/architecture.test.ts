import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

const root = join(import.meta.dir, "../src");

/** From the bottom to the top: each imports only what stands before it. */
const ROOMS = [
  "message",
  "protocol",
  "runtime",
  "actor",
  "router",
  "system.ts",
  "index.ts",
  "link",
  "testing",
  "tools",
  "http",
  "rpc",
  "acp",
  "mcp",
  "nats",
  "record",
  "telemetry",
  "workers",
  "cli",
];
const LAYERS = ["", "envelopes", "refs", "cell", "life", "face"]; // Of src/actor; the files beside the folders come first.
/** What is built on the public face, as a user's code would be. */
const WINGS = ["link", "testing", "tools", "http", "rpc", "acp", "mcp", "nats", "record", "telemetry", "workers"];
/** The door to HTTP, from the bottom to the top: its folders, and the files beside them. What stands on one line does not know each other. */
const DOOR = [
  ["client"], // Of the door it knows types alone. The inspector's page is a client.
  [
    "exposes",
    "server",
    "problem",
    "disconnects",
    "operation-log",
    "contract",
    "metric-family",
    "json-of",
    "limits",
    "preferences",
    "body",
    "route-table",
    "drain",
    "around",
  ],
  ["border", "streams"],
  ["exposure", "actors", "messages"],
  ["documents", "sessions", "socket"],
  ["inspector"],
  ["gateway-options", "gateway", "serve", "index", "internals"],
];
/** The wings that stand on another one, on what that exports. */
const OVER: Readonly<Record<string, string>> = { acp: "rpc", workers: "link", nats: "link" };
/** The protocol and the runtime do not know each other, and no wing knows another. */
const APART = new Set([
  ...["protocol runtime", "runtime protocol"],
  ...WINGS.flatMap((wing) => WINGS.filter((other) => other !== wing).map((other) => `${wing} ${other}`)),
]);
for (const [wing, other] of Object.entries(OVER)) APART.delete(`${wing} ${other}`);

const files = await Array.fromAsync(new Bun.Glob("**/*.ts").scan(root));
const imports = await Promise.all(
  files.map(async (file) => {
    const text = await Bun.file(join(root, file)).text();
    return [...text.matchAll(/\bfrom "(\.[^"]+)"/g)].flatMap(([, path = ""]) => {
      const to = relative(root, join(root, dirname(file), path));
      const found = [`${to}.ts`, join(to, "index.ts"), to].find((each) => files.includes(each));
      return found === undefined ? [] : [[file, found] as const];
    });
  }),
);
const arrows = imports.flat();

const roomOf = (file: string): string => file.split("/")[0] ?? "";
const layerOf = (file: string): string => (file.split("/").length > 2 ? (file.split("/")[1] ?? "") : "");

test("imports run one way through the rooms of src", () => {
  expect(arrows.length).toBeGreaterThan(500);
  const back = arrows.filter(([from, to]) => {
    const [a, b] = [roomOf(from), roomOf(to)];
    return ROOMS.indexOf(b) < 0 || ROOMS.indexOf(a) < ROOMS.indexOf(b) || APART.has(`${a} ${b}`);
  });
  expect(back.filter(([from]) => ROOMS.includes(roomOf(from)))).toEqual([]);
});

test("the wings stand on the public face alone, but for those that stand on another", () => {
  const past = arrows.filter(([from, to]) => {
    const room = roomOf(from);
    const isOver = to === `${OVER[room]}/index.ts`;
    return WINGS.includes(room) && roomOf(to) !== room && to !== "index.ts" && !isOver;
  });
  expect(past).toEqual([]);
});

test("imports run one way through the layers of the room of actors", () => {
  const within = arrows.filter(([from, to]) => roomOf(from) === "actor" && roomOf(to) === "actor");
  expect(within.length).toBeGreaterThan(100);
  expect(new Set(within.map(([from]) => layerOf(from)))).toEqual(new Set(LAYERS));
  expect(within.filter(([from, to]) => LAYERS.indexOf(layerOf(from)) < LAYERS.indexOf(layerOf(to)))).toEqual([]);
});

test("imports run one way through the door to HTTP, and its client shares types alone with it", async () => {
  const within = arrows.filter(([from, to]) => roomOf(from) === "http" && roomOf(to) === "http");
  const pieceOf = (file: string): string => (file.split("/")[1] ?? "").replace(".ts", "");
  const rankOf = (file: string): number => DOOR.findIndex((row) => row.includes(pieceOf(file)));
  const server = within.filter(([from]) => pieceOf(from) !== "client");
  expect(server.length).toBeGreaterThan(150);
  const isBack = ([from, to]: readonly [string, string]): boolean => {
    if (from.startsWith("http/inspector/page/") && pieceOf(to) === "client") return false; // Both run in browsers.
    if (rankOf(from) < 0 || rankOf(to) < 0 || rankOf(from) < rankOf(to)) return true;
    const areFolders = layerOf(from) !== "" && layerOf(to) !== "";
    return rankOf(from) === rankOf(to) && areFolders && layerOf(from) !== layerOf(to);
  };
  expect(server.filter(isBack)).toEqual([]);
  const shared = within.filter(([from, to]) => pieceOf(from) === "client" && pieceOf(to) !== "client");
  expect(new Set(shared.map(([, to]) => pieceOf(to)))).toEqual(new Set(["exposes", "problem", "socket"]));
  for (const [from] of shared) {
    const text = await Bun.file(join(root, from)).text();
    expect(text.match(/^import (?!type ).*"\.\.\/.*/gm)).toBeNull();
  }
});

test("no two files of the core have one name", () => {
  const core = files.filter(
    (file) =>
      file !== "index.ts" && !/^(link|testing|tools|http|rpc|acp|mcp|nats|record|telemetry|workers|cli)\//.test(file),
  );
  const names = core.map((file) => basename(file));
  expect(names.length).toBeGreaterThan(80);
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});

test("what travels knows a recipient, and nothing of the cell: contract.ts has types alone", async () => {
  const text = await Bun.file(join(root, "actor/contract.ts")).text();
  expect(text.match(/^import (?!type )/gm)).toBeNull();
  expect(text.match(/^export (?!interface |type )/gm)).toBeNull();
});

test.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])(
  "%s names files, folders, commands and functions that there are",
  async (page) => {
    const top = join(root, "..");
    const text = await Bun.file(join(top, page)).text();
    const paths = [
      ...text.matchAll(/`((?:src|test|benchmarks|docs)\/[\w./-]+|[\w.-]+\.(?:json|ts|md))`|bun test ([\w./-]+)/g),
    ];
    const missing = paths.map(([, path = "", tested]) => tested ?? path).filter((path) => !existsSync(join(top, path)));
    expect(paths.length).toBeGreaterThan(2);
    expect(missing).toEqual([]);
    const { scripts } = await Bun.file(join(top, "package.json")).json();
    const commands = [...text.matchAll(/\bbun(?:@[\d.]+)?(?: --bun)? run ([\w:]+)/g)].map(([, name = ""]) => name);
    expect(commands.filter((name) => name !== "tsc" && !(name in scripts))).toEqual([]);
  },
);

test("the table of an actor's life in ARCHITECTURE.md is that of transitions.ts", async () => {
  const cells = (row: string): string =>
    row
      .replace(/^ \* /, "")
      .replaceAll(/\s*\|\s*/g, "|")
      .replaceAll(/-{3,}/g, "---");
  const code = await Bun.file(join(root, "actor/cell/transitions.ts")).text();
  const page = await Bun.file(join(root, "../ARCHITECTURE.md")).text();
  const rows = [...code.matchAll(/^ \* \|.*\|$/gm)].map(([row]) => cells(row));
  expect(rows.length).toBe(8);
  expect(page.split("\n").map(cells).join("\n")).toContain(rows.join("\n"));
});
