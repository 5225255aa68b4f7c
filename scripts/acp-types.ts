/**
 * Writes `src/acp/schema/types.ts`, the types of the Agent Client Protocol's messages, from the schema in the official package.
 * `bun scripts/acp-types.ts` after its version in package.json was changed; test/acp/schema.test.ts holds the file to it.
 */

import { join } from "node:path";
import { messagesOf, type OfficialSchema } from "../src/acp/schema/normalise";

type Node = Readonly<Record<string, unknown>>;

export const TYPES = join(import.meta.dir, "../src/acp/schema/types.ts");
const SDK = "@agentclientprotocol/sdk";

/** The file as the installed package gives it. */
export async function acpTypes(): Promise<string> {
  const official: OfficialSchema = await Bun.file(
    Bun.resolveSync(`${SDK}/schema/v1/schema.json`, import.meta.dir),
  ).json();
  const { version } = await Bun.file(join(import.meta.dir, `../node_modules/${SDK}/package.json`)).json();
  const messages = messagesOf(official).map(({ name }) => name);
  const wanted = new Set<string>();
  const want = (name: string): void => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const [, other = ""] of JSON.stringify(official.$defs[name]).matchAll(/"#\/\$defs\/(\w+)"/g)) want(other);
  };
  for (const name of messages) want(name);
  const types = [...wanted].sort().map((name) => declaration(name, official.$defs[name] ?? {}));
  const text = `// Made by scripts/acp-types.ts from schema/v1/schema.json of ${SDK} ${version}, which is Zed Industries' under the Apache
// License 2.0. Change nothing here.

/** Additions of a side to a message of its own. The protocol gives them no meaning, and the other side may ignore them. */
export interface Meta {
  readonly [name: string]: unknown;
}

${types.join("\n\n")}

/** The type of each message, by the name of its definition in the official schema. */
export interface Messages {
${messages.map((name) => `readonly ${name}: ${name};`).join("\n")}
}
`;
  return format(text);
}

async function format(text: string): Promise<string> {
  const biome = Bun.spawn([process.execPath, "--bun", "biome", "check", "--write", `--stdin-file-path=${TYPES}`], {
    stdin: new Blob([text]),
    stdout: "pipe",
    stderr: "inherit",
    cwd: join(import.meta.dir, ".."),
  });
  return new Response(biome.stdout).text();
}

/** The first sentence of what the schema says, which an editor shows. */
function comment({ description }: Node): string {
  if (typeof description !== "string") return "";
  const [first = ""] = description.split(/\.(?=\s|$)|\n\n/);
  const sentence = first.replaceAll(/\s+/g, " ").replaceAll("**", "").replaceAll("*/", "").trim();
  return sentence === "" ? "" : `/** ${sentence}. */\n`;
}

function declaration(name: string, node: Node): string {
  const isPlain = node["type"] === "object" && !("anyOf" in node) && !("oneOf" in node) && "properties" in node;
  const about = comment(node);
  return isPlain ? `${about}export interface ${name} ${body(node)}` : `${about}export type ${name} = ${type(node)};`;
}

function body(node: Node): string {
  const required = list(node["required"]);
  const properties = Object.entries(record(node["properties"])).map(([name, property]) =>
    name === "_meta"
      ? "readonly _meta?: Meta | null;"
      : `${comment(record(property))}readonly ${name}${required.includes(name) ? "" : "?"}: ${type(record(property))};`,
  );
  return `{\n${properties.join("\n")}\n}`;
}

function type(node: Node): string {
  const parts: string[] = [];
  const { $ref, allOf, anyOf, oneOf } = node;
  if (typeof $ref === "string") return $ref.replace("#/$defs/", "");
  const own = plain(node);
  if (own !== undefined) parts.push(own);
  for (const part of list(allOf)) parts.push(type(record(part)));
  for (const branches of [anyOf, oneOf]) {
    if (!Array.isArray(branches)) continue;
    const types = branches.map((branch) => type(branch));
    const hasLiterals = types.some((each) => each.startsWith('"'));
    // An open list of texts: its known ones are offered, and others fit.
    parts.push(
      `(${[...new Set(types.map((each) => (hasLiterals && each === "string" ? "(string & {})" : each)))].join(" | ")})`,
    );
  }
  return parts.length === 0 ? "unknown" : parts.join(" & ");
}

/** What a node says beside its unions and references; undefined when that is nothing. */
function plain(node: Node): string | undefined {
  if ("const" in node) return JSON.stringify(node["const"]);
  if (Array.isArray(node["enum"])) return node["enum"].map((value) => JSON.stringify(value)).join(" | ");
  const types = Array.isArray(node["type"]) ? node["type"] : node["type"] === undefined ? [] : [node["type"]];
  if (types.length === 0) return undefined;
  const each = types.map((name) => {
    if (name === "array") return `readonly (${type(record(node["items"]))})[]`;
    if (name === "integer") return "number";
    if (name !== "object") return String(name);
    const { properties, additionalProperties: others } = node;
    if (properties === undefined) {
      return `{ readonly [name: string]: ${others === undefined || others === true ? "unknown" : type(record(others))} }`;
    }
    // A branch for what is not known yet keeps what it carries.
    return others === true || node["unevaluatedProperties"] === true
      ? `(${body(node)} & { readonly [name: string]: unknown })`
      : body(node);
  });
  return each.length === 1 ? each[0] : `(${each.join(" | ")})`;
}

const record = (value: unknown): Node =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

if (import.meta.main) await Bun.write(TYPES, await acpTypes());
