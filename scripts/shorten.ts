import { transform } from "esbuild";

const IMPORTS = /(?<=^|[;}\n])import(?:[^"';()]*?from)?"[^"]+";/g;
const EXPORTS = /export\s*\{[^}]*\};?\s*$/;
const STRICT = '"use strict";';
const BANNER = "// @bun\n";

/**
 * Gives the parameters and the variables within functions of a built module short names, which makes it a quarter smaller.
 * Functions, classes, methods and private members keep theirs, which stand in stack traces.
 *
 * esbuild renames what is at the top of a module, but not of a script. So it gets the text without imports and exports, which
 * come back afterwards. It also renames private members, which are public ones for that time.
 */
export async function shorten(text: string): Promise<string> {
  if (!text.startsWith(BANNER)) return text;
  const exported = EXPORTS.exec(text)?.[0] ?? "";
  const imports: string[] = [];
  const script = text
    .slice(BANNER.length, text.length - exported.length)
    .replace(IMPORTS, (each) => {
      imports.push(each);
      return "";
    })
    .replaceAll("import.meta", "IMPORT_META")
    .replace(/(?<=[\w$])#(?=[a-zA-Z_])/g, " PRIVATE_AFTER_WORD_") // As in `async #send()`, which has lost its space.
    .replace(/#(?=[a-zA-Z_])/g, "PRIVATE_MEMBER_");
  const { code } = await transform(STRICT + script, { minify: true, lineLimit: 160, target: "esnext" });
  if (!code.startsWith(STRICT))
    throw new Error("The text of a built module has another beginning: see scripts/shorten.ts.");
  const restored = code
    .slice(STRICT.length)
    .replaceAll("IMPORT_META", "import.meta")
    .replace(/ ?PRIVATE_AFTER_WORD_/g, "#")
    .replaceAll("PRIVATE_MEMBER_", "#");
  const whole = `${BANNER}${imports.join("\n")}${restored.trimEnd()}\n${exported}`;
  return whole.length < text.length ? whole : text;
}
