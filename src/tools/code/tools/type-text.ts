import type { Definition, Member, Shape } from "./type-shape";

/** Longest type that stands on one line. */
const LINE = 110;
/** What recurs and is longer than this has a name… */
const SHORT = 60;
/** …and so has what is shorter and takes more than this in all its places. */
const OFTEN = 400;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** A name as a member of an object has it. */
export const keyText = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** A comment with a text, on as many lines as that has. */
export function commentText(text: string | undefined, indent: string): string {
  if (text === undefined || text.trim() === "") return "";
  const lines = text
    .replaceAll("*/", "*\\/")
    .trim()
    .split(/\s*[\r\n\u2028\u2029]\s*/);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

/** Of a reply that is what was asked for, or why it could not be had, the second one. */
const isFailure = (shape: Shape): boolean =>
  shape.kind === "object" &&
  shape.members.some(({ name, shape: its }) => name === "ok" && its.kind === "atom" && its.text === "false");

interface Seen {
  readonly shape: Shape;
  readonly hint: string;
  count: number;
}

/** Writes types down. What recurs has a name, and so has what refers to itself. */
export class TypeTexts {
  readonly #definitions = new Map<Definition, string>();
  /** By what they are when all is written out. */
  readonly #seen = new Map<string, Seen>();
  readonly #names = new Map<string, string>();
  readonly #taken: Set<string>;
  /** Descriptions that were told: each is, where it comes first. */
  readonly #told = new Set<string>();

  /** @param taken names that mean something else. */
  constructor(taken: readonly string[]) {
    this.#taken = new Set(taken);
  }

  /**
   * All types are looked at before the first one is written.
   *
   * @param hint the tool and what it is there, with a space between them.
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

  /** Gives names to what recurs, from the smallest on, and takes those back that are used once then. */
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
        if (uses.length - 1 > 2) continue; // Its definition, and two more.
        this.#names.delete(key);
        isChanged = true;
      }
    }
  }

  /** Forgets which descriptions were told. */
  restart(): void {
    this.#told.clear();
  }

  text(shape: Shape, indent: string): string {
    return this.#write(shape, indent);
  }

  /** What has a name, as statements. */
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

  /** With nothing left to names but what refers to itself. */
  #whole(shape: Shape): string {
    return this.#write(shape, null, undefined, true);
  }

  /**
   * @param indent of the line on which it stands; null for all in one line.
   * @param own what is not to be told by its name, since it is what the name stands for.
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
        // Words are read as well in one long line, and each line of them begins with letters that say nothing.
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
      // Those that differ in a description are not the same.
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

/** Whether a type needs no parentheses before what follows it. */
const isBound = (shape: Shape, text: string): boolean => shape.kind !== "join" || IDENTIFIER.test(text);

const pascal = (name: string): string =>
  name.replace(/[^\p{ID_Continue}$]+(.?)|^(.)/gu, (_, first = "", start = "") => (first + start).toUpperCase());
