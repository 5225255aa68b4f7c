/**
 * Makes `llms.txt` and `llms-full.txt` (https://llmstxt.org) of the README, the guides and the exports: a list of what there is
 * to read, and all of it in one file.
 */
import { join } from "node:path";
import { ENTRIES, type Exported, readExports } from "./exports";

export const SHORT = "llms.txt";
export const FULL = "llms-full.txt";

/** Exports of other packages, which are documented there. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  Result: "`Ok` or `Err`, of neverthrow: `isOk()`, `isErr()`, `value`, `error`, `map`, `match`, `unwrapOr`.",
  ResultAsync: "A promise of a `Result`, of neverthrow.",
  ok: "Makes an `Ok`, of neverthrow.",
  err: "Makes an `Err`, of neverthrow.",
  Type: "TypeBox's makers of schemas, such as `Type.Object({ name: Type.String() })`.",
  Static: "The type of the values that fit a TypeBox schema.",
};

interface Page {
  readonly path: string;
  readonly title: string;
  /** The first paragraph, on one line. */
  readonly about: string;
  readonly text: string;
}

/** The two files, by their names. */
export async function llmsFiles(root: string, exports = readExports(root)): Promise<Readonly<Record<string, string>>> {
  const read = async (path: string): Promise<Page> => pageOf(path, await Bun.file(join(root, path)).text());
  const readme = await read("README.md");
  const paths = [...new Bun.Glob("docs/*.md").scanSync({ cwd: root })].sort();
  const guides = await Promise.all(paths.map(read));
  return { [SHORT]: shortOf(readme, guides, exports), [FULL]: fullOf(readme, guides, exports) };
}

function pageOf(path: string, text: string): Page {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? path;
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const paragraph = prose.split(/\n{2,}/).find((part) => /^[^#|<\s-]/.test(part)) ?? "";
  return { path, title, about: paragraph.replaceAll(/\s*\n\s*/g, " ").trim(), text };
}

/** The first sentences of a paragraph, until they say enough. A full stop within a word ends none. */
function beginningOf(paragraph: string): string {
  let beginning = "";
  for (const [sentence] of paragraph.matchAll(/.*?[.!?](?=\s|$)\s*/g)) {
    beginning += sentence;
    if (beginning.length >= 60) break;
  }
  return beginning.trim() || paragraph;
}

function shortOf(readme: Page, guides: readonly Page[], exports: readonly Exported[]): string {
  const lines = [`# ${readme.title}`, "", `> ${readme.about}`, ""];
  lines.push(`All of the pages below, and what each export does, are in [${FULL}](${FULL}).`, "", "## Guides", "");
  lines.push(`- [README](README.md): what it is, how to install it, a quick start`);
  for (const { path, title, about } of guides) lines.push(`- [${title}](${path}): ${beginningOf(about)}`);
  lines.push("", "## Exports", "");
  for (const entry of Object.keys(ENTRIES)) {
    const names = exports.filter((each) => each.entry === entry && each.kind !== "type").map(({ name }) => name);
    lines.push(`- [${entry}](${FULL}): ${names.join(", ")}`);
  }
  lines.push("", "## Optional", "");
  lines.push(
    "- [Security](SECURITY.md): what the core, the tools and the door to HTTP protect against, and the test that holds each line",
  );
  lines.push("- [Benchmarks](BENCHMARKS.md): every figure, beside its floor");
  lines.push("- [Architecture](ARCHITECTURE.md): the rooms, the life of an actor, and where to change what");
  lines.push("- [Changelog](CHANGELOG.md): what a user can notice of each version");
  return `${lines.join("\n")}\n`;
}

function fullOf(readme: Page, guides: readonly Page[], exports: readonly Exported[]): string {
  const parts = [readme, ...guides].map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`);
  for (const entry of Object.keys(ENTRIES)) {
    parts.push(
      `# Exports of ${entry}\n\n${exports
        .filter((each) => each.entry === entry)
        .map(entryOf)
        .join("\n")}`,
    );
  }
  return parts.join("\n");
}

/** One export: its name, its doc comment, its defaults and its errors. */
function entryOf({ name, kind, comment, tags, options }: Exported): string {
  const lines = [`## ${name} (${kind})`, "", comment || (OF_OTHERS[name] ?? ""), ""];
  for (const option of options) {
    lines.push(
      `- \`${option.name}\`${option.isOptional ? "" : " (required)"}: ${option.comment.replaceAll("\n", " ")}`,
    );
  }
  if (options.length > 0) lines.push("");
  for (const { name: tag, text } of tags) {
    if (tag === "throws") lines.push(`Throws: ${text}`, "");
    if (tag === "example") lines.push("```ts", text, "```", "");
  }
  return lines.join("\n");
}
