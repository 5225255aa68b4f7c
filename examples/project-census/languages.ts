import { basename, extname } from "node:path";

const EXTENSIONS: Readonly<Record<string, string>> = {
  Assembly: "asm s",
  C: "c h",
  "C#": "cs",
  "C++": "cc cpp cxx hh hpp hxx",
  Clojure: "clj cljc cljs edn",
  CSS: "css",
  CSV: "csv tsv",
  Dart: "dart",
  Elixir: "ex exs",
  Erlang: "erl hrl",
  "F#": "fs fsi fsx",
  Go: "go",
  GraphQL: "gql graphql",
  Haskell: "hs",
  HTML: "htm html xhtml",
  Java: "java",
  JavaScript: "cjs js jsx mjs",
  JSON: "json json5 jsonc jsonl ndjson",
  Julia: "jl",
  Kotlin: "kt kts",
  Less: "less",
  Log: "log",
  Lua: "lua",
  Markdown: "markdown md mdx",
  Nix: "nix",
  OCaml: "ml mli",
  Perl: "pl pm",
  PHP: "php",
  "Plain text": "text txt",
  "Protocol Buffers": "proto",
  Python: "py pyi",
  R: "r",
  reStructuredText: "rst",
  Ruby: "rb",
  Rust: "rs",
  Sass: "sass scss",
  Scala: "sbt scala",
  Shell: "bash fish sh zsh",
  SQL: "sql",
  Svelte: "svelte",
  SVG: "svg",
  Swift: "swift",
  TeX: "bib cls sty tex",
  TOML: "toml",
  TypeScript: "cts mts ts tsx",
  Vue: "vue",
  XML: "xml xsd xsl xslt",
  YAML: "yaml yml",
  Zig: "zig",
};

const LANGUAGES = new Map<string, string>(
  Object.entries(EXTENSIONS).flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension) => [`.${extension}`, language] as const),
  ),
);
const NAMES = new Map([
  ["cmakelists.txt", "CMake"],
  ["dockerfile", "Dockerfile"],
  ["makefile", "Makefile"],
]);

/** The language of a file by its name; for an extension that is not known, the extension. */
export function languageOf(path: string): string {
  const extension = extname(path).toLowerCase();
  const named = NAMES.get(basename(path).toLowerCase());
  return named ?? LANGUAGES.get(extension) ?? (extension.length > 1 ? extension : "no extension");
}
