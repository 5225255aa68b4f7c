import type { Definition, Member, Shape } from "./type-shape";

/** Longest type that is written on one line. */
const LINE = 110;
/** A type that recurs and is longer than this gets a name. */
const SHORT = 60;
/** A shorter one gets a name if it is longer than this in all its places together. */
const OFTEN = 400;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Writes a name as the key of a member. */
export const keyText = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** Writes a text as a doc comment of as many lines as the text has. */
export function commentText(text: string | undefined, indent: string): string {
  if (text === undefined || text.trim() === "") return "";
  const lines = text
    .replaceAll("*/", "*\\/")
    .trim()
    .split(/\s*[\r\n\u2028\u2029]\s*/);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

/** True for the failure type of a tool's reply, which has `ok: false`. */
const isFailure = (shape: Shape): boolean =>
  shape.kind === "object" &&
  shape.members.some(({ name, shape: its }) => name === "ok" && its.kind === "atom" && its.text === "false");

interface Seen {
  readonly shape: Shape;
  readonly hint: string;
  count: number;
}

/** Writes types as text. A type that recurs, or that refers to itself, gets a name. */
export class TypeTexts {
  readonly #definitions = new Map<Definition, string>();
  /** By their full text, without names. */
  readonly #seen = new Map<string, Seen>();
  readonly #names = new Map<string, string>();
  readonly #taken: Set<string>;
  /** Descriptions that are written already. Each is written only where it first appears. */
  readonly #told = new Set<string>();

  /** @param taken names that are in use already. */
  constructor(taken: readonly string[]) {
    this.#taken = new Set(taken);
  }

  /**
   * Counts a type and its parts. All types are counted before the first one is written.
   *
   * @param hint the tool's name, a space, and a name for the type.
   */
  look(shape: Shape, hint: string): void {
    const [tool = ""] = hint.split(" ");
    if (shape.kind === "named") {
      if (this.#definitions.has(shape.definition)) return;
      this.#definitions.set(shape.definition, this.#nameFor(tool, shape.definition.hint));
      this.look(shape.definition.shape, hint);
      return;
    }
    if (shape.kind === "atom") return;
    const key = this.#whole(shape);
    const seen = this.#seen.get(key);
    if (seen === undefined) this.#seen.set(key, { shape, hint, count: 1 });
    else seen.count++;
    if (shape.kind === "join")
      for (const part of shape.parts) this.look(part, isFailure(part) ? `${tool} failure` : hint);
    if (shape.kind === "array") this.look(shape.item, hint);
    if (shape.kind === "tuple") for (const item of shape.items) this.look(item, hint);
    if (shape.kind !== "object") return;
    for (const member of shape.members) this.look(member.shape, `${tool} ${member.name}`);
    if (shape.others !== null) this.look(shape.others, hint);
  }

  /** Names recurring types, the smallest first, and then removes names that are used only once. */
  name(tops: readonly Shape[]): void {
    const recurring = [...this.#seen].filter(([, { count }]) => count > 1).toSorted(([a], [b]) => a.length - b.length);
    for (const [key, { shape, hint, count }] of recurring) {
      if (shape.kind !== "object" && shape.kind !== "join") continue;
      const { length } = this.#write(shape, null, key);
      if (length > SHORT || length * count > OFTEN) {
        this.#names.set(key, this.#nameFor(...(hint.split(" ") as [string, string])));
      }
    }
    for (let isChanged = true; isChanged; ) {
      isChanged = false;
      const texts = [...tops.map((shape) => this.#write(shape, null)), ...this.definitions()].join("\n");
      for (const [key, name] of this.#names) {
        const uses = texts.split(
          new RegExp(`(?<![\\p{ID_Continue}$])${name.replaceAll("$", "\\$")}(?![\\p{ID_Continue}$])`, "u"),
        );
        if (uses.length - 1 > 2) continue; // The definition, and at least two uses.
        this.#names.delete(key);
        isChanged = true;
      }
    }
  }

  /** Forgets which descriptions were written. */
  restart(): void {
    this.#told.clear();
  }

  text(shape: Shape, indent: string): string {
    return this.#write(shape, indent);
  }

  /** The named types, as statements. */
  definitions(): string[] {
    const found: string[] = [];
    for (const [key, name] of this.#names) {
      const seen = this.#seen.get(key);
      if (seen !== undefined) found.push(`type ${name} = ${this.#write(seen.shape, "", key)};`);
    }
    for (const [{ shape }, name] of this.#definitions) found.push(`type ${name} = ${this.#write(shape, "")};`);
    return found;
  }

  #tell(description: string | undefined): string | undefined {
    if (description === undefined || this.#told.has(description)) return undefined;
    this.#told.add(description);
    return description;
  }

  #nameFor(tool: string, hint: string): string {
    const base = pascal(tool) + pascal(hint);
    let name = base;
    for (let count = 2; this.#taken.has(name) || name in globalThis; count++) name = `${base}${count}`;
    this.#taken.add(name);
    return name;
  }

  /** Writes a type in full. Only types that refer to themselves keep their names. */
  #whole(shape: Shape): string {
    return this.#write(shape, null, undefined, true);
  }

  /**
   * @param indent the indentation of its line; null for all in one line.
   * @param own the key of the type that is being defined: its own name is not used for it.
   */
  #write(shape: Shape, indent: string | null, own?: string, isWhole = false): string {
    if (shape.kind === "atom") return shape.text;
    if (shape.kind === "named") return this.#definitions.get(shape.definition) ?? shape.definition.hint;
    if (!isWhole && this.#names.size > 0) {
      const key = this.#whole(shape);
      const name = key === own ? undefined : this.#names.get(key);
      if (name !== undefined) return name;
    }
    const write = (part: Shape, at: string | null) => this.#write(part, at, own, isWhole);
    switch (shape.kind) {
      case "array": {
        const item = write(shape.item, indent);
        return isBound(shape.item, item) ? `${item}[]` : `(${item})[]`;
      }
      case "tuple": {
        const items = shape.items.map((item, index) => {
          const text = write(item, indent);
          if (index < shape.least) return text;
          return isBound(item, text) ? `${text}?` : `(${text})?`;
        });
        return `[${items.join(", ")}]`;
      }
      case "join": {
        const parts = shape.parts.map((part) => {
          const text = write(part, indent === null ? null : `${indent}  `);
          return part.kind === "join" && !IDENTIFIER.test(text) ? `(${text})` : text;
        });
        const unique = [...new Set(parts)];
        const line = unique.join(` ${shape.by} `);
        // Plain words are as easy to read in one long line, and more lines would add indentation that says nothing.
        if (shape.parts.every(({ kind }) => kind === "atom")) return line;
        if (indent === null || (line.length <= LINE && !line.includes("\n")) || unique.length === 1) return line;
        return unique.map((part) => `\n${indent}  ${shape.by} ${part}`).join("");
      }
      case "object":
        return this.#object(shape, indent, write);
    }
  }

  #object(
    { members, others }: Extract<Shape, { kind: "object" }>,
    indent: string | null,
    write: (part: Shape, indent: string | null) => string,
  ): string {
    const at = (member: Member, inner: string | null) =>
      `${keyText(member.name)}${member.isOptional ? "?" : ""}: ${write(member.shape, inner)}`;
    const rest = (inner: string | null) => (others === null ? [] : [`[key: string]: ${write(others, inner)}`]);
    const line = [...members.map((member) => at(member, null)), ...rest(null)].join("; ");
    if (line === "") return "{}";
    if (indent === null) {
      // Types that differ in a description are not the same.
      const comments = members.map(({ description }) =>
        description === undefined ? "" : `/** ${JSON.stringify(description)} */`,
      );
      return `{ ${comments.join("")}${line} }`;
    }
    const comments = members.map(({ description }) => this.#tell(description));
    if (comments.every((comment) => comment === undefined) && line.length <= LINE && !line.includes("/**"))
      return `{ ${line} }`;
    const inner = `${indent}  `;
    const rows = members.map(
      (member, index) => `${commentText(comments[index], inner)}${inner}${at(member, inner)};\n`,
    );
    return `{\n${rows.join("")}${rest(inner)
      .map((text) => `${inner}${text};\n`)
      .join("")}${indent}}`;
  }
}

/** True when a type needs no parentheses before a suffix such as `[]`. */
const isBound = (shape: Shape, text: string): boolean => shape.kind !== "join" || IDENTIFIER.test(text);

const pascal = (name: string): string =>
  name.replace(/[^\p{ID_Continue}$]+(.?)|^(.)/gu, (_, first = "", start = "") => (first + start).toUpperCase());
