import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { defineConfig, type Options } from "tsup";
import { normalise } from "./src/acp/schema/normalise";
import { pack } from "./src/acp/schema/packed";

// TypeBox goes into the package: imported from node_modules it costs 58 ms at start, from these files 4. It is minified
// (to 0.4 of its size); our own code keeps its names. (Shorter names saved no time at start; esbuild's keepNames cost 7 ms.)
const typebox = ["typebox", "typebox/schema"];
const fileOf = (specifier: string) => `./${specifier.replaceAll("/", "-")}`;
const entryOf = (specifier: string) => Bun.resolveSync(specifier, process.cwd());

// Of TypeBox's `Type`, most programs use only what makes a plain schema, a fifth of its code. What computes types (Script, Pick,
// Record …) is in a file of its own, which the first use of one of them loads: to read it took 5 ms of each start. Whoever needs
// it waits 1 ms longer than where all is one file.
const TYPES = join(dirname(entryOf("typebox")), "typebox.mjs");
const COMPUTING = /^type\/(?!types\/)|\/(call|record|template_literal)\.mjs$/;

/** The lines of TypeBox's `Type` that export what makes a schema, and those that export what computes one. */
function exportsOfType(): { readonly plain: string[]; readonly computing: string[] } {
  const lines = readFileSync(TYPES, "utf8").matchAll(/^export \{ .* \} from '\.\/(.*)';$/gm);
  const { plain = [], computing = [] } = Object.groupBy(lines, ([, path = ""]) =>
    COMPUTING.test(path) ? "computing" : "plain",
  );
  return { plain: plain.map(([line]) => line), computing: computing.map(([line]) => line) };
}

/** `Type` as the package has it, with all its names. */
function typeOfPackage(): string {
  const { plain, computing } = exportsOfType();
  const names = (lines: readonly string[]) => lines.flatMap((line) => line.slice(9, line.indexOf(" }")).split(", "));
  return `
    import { loadComputedTypes } from "./compiler.js";
    ${plain.map((line, index) => line.replace(/^export .* from/, `import * as module${index} from`)).join("\n")}
    export const Type = { ${plain.flatMap((line, index) => names([line]).map((name) => `${name}: module${index}.${name}`)).join(", ")} };
    for (const name of ${JSON.stringify(names(computing).join(" "))}.split(" "))
      Object.defineProperty(Type, name, { enumerable: true, get: () => loadComputedTypes()[name] });
  `;
}

/** Loads a file of the package when it is needed, as an expression. */
const loading = (file: string): string => `load(() => require("${file}"), "${file}")`;
const LOADING = `
  function load(byRequire, file) {
    try {
      return byRequire();
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      return process.getBuiltinModule("node:module").createRequire(import.meta.url)(file);
    }
  }
`;

/** The page of the inspector in place of what reads and makes it (src/http/inspector/page-texts.ts): a quarter of its size. */
async function pageTexts(folder: string): Promise<string> {
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const { outputFiles } = await build({
    entryPoints: ["main.ts", "style.css"].map((name) => join(folder, name)),
    outdir: folder, // Nothing is written.
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
  });
  const made = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  const texts = { html: read("index.html"), script: made(".js"), style: made(".css"), icon: read("icon.svg") };
  const packed = brotliCompressSync(JSON.stringify(texts)).toString("base64");
  return `export async function pageTexts() {
    const { brotliDecompressSync } = await import("node:zlib");
    return JSON.parse(brotliDecompressSync(Buffer.from("${packed}", "base64")).toString());
  }`;
}

/** The schemas of the Agent Client Protocol in place of what reads them from its official package (src/acp/schema/official.ts). */
const acpSchemas = (): string =>
  JSON.stringify(
    pack(normalise(JSON.parse(readFileSync(entryOf("@agentclientprotocol/sdk/schema/v1/schema.json"), "utf8")))),
  );

const shared: Options = {
  format: "esm",
  target: "esnext",
  platform: "node",
  splitting: true,
  removeNodeProtocol: false,
  // Tells Bun that there is nothing to transpile, which takes it 15 ms for the core, and 26 with the tools, where it has not
  // done so before.
  banner: { js: "// @bun" },
  // Without comments and indentation it is a third smaller, and needs no source maps, which were a third of the package: names
  // are as in the sources, and lines are short, so that a stack trace names the place.
  esbuildOptions(options) {
    options.minifyWhitespace = options.minifySyntax = true;
    options.lineLimit = 160;
  },
};

export default defineConfig([
  {
    ...shared,
    entry: {
      index: "src/index.ts",
      testing: "src/testing/index.ts",
      tools: "src/tools/index.ts",
      http: "src/http/index.ts",
      "http-client": "src/http/client/index.ts", // Shares no code with the others: it goes into browsers.
      rpc: "src/rpc/index.ts",
      acp: "src/acp/index.ts",
      mcp: "src/mcp/index.ts",
      nats: "src/nats/index.ts",
      record: "src/record/index.ts",
      telemetry: "src/telemetry/index.ts",
      workers: "src/workers/index.ts",
      cli: "src/cli/envoi.ts", // The program of the package: `bunx envoi`.
      "file-actor": "src/tools/files/file-actor.ts", // Loaded by the tools, when the first of each is spawned.
      "code-actor": "src/tools/code/code-actor.ts",
      "fetch-actor": "src/tools/fetch/fetch-actor.ts",
      benchmarks: "benchmarks/index.ts",
      internals: "src/tools/internals.ts", // For the benchmarks that come along, as `#internals` and `#http-internals`.
      "http-internals": "src/http/internals.ts",
    },
    external: ["neverthrow", /^@jitl\//, /^@modelcontextprotocol\//, /^@nats-io\//, /^@opentelemetry\//, /^bun(:|$)/],
    noExternal: [/^typebox/],
    esbuildPlugins: [
      {
        name: "typebox",
        setup(build) {
          build.onResolve({ filter: /^typebox(\/|$)/ }, ({ path }) =>
            path === "typebox"
              ? { path: `${fileOf(path)}.js`, external: true }
              : { errors: [{ text: `"${path}" is not bundled: see tsup.config.ts.` }] },
          );
          build.onResolve({ filter: /^(\.{1,2}\/)+(protocol\/)?compiler$/ }, () => ({
            path: "./compiler.js",
            external: true,
          }));
          build.onResolve({ filter: /^\.{1,2}\/(\.\.\/)?late$/ }, () => ({ path: "./late.js", external: true }));
          build.onLoad({ filter: /\/inspector\/page-texts\.ts$/ }, async ({ path }) => ({
            contents: await pageTexts(join(dirname(path), "page")),
          }));
          build.onLoad({ filter: /\/acp\/schema\/official\.ts$/ }, () => ({
            contents: `import { unpack } from "./packed"; export const schemas = unpack(JSON.parse(${JSON.stringify(acpSchemas())}));`,
          }));
          build.onResolve({ filter: /^\.\/load-embedded$/ }, ({ path }) => ({ path: `${path}.js`, external: true }));
        },
      },
    ],
  },
  {
    ...shared,
    // As it is, so that both Bun and its bundler see what is loaded late; Bun has to make something else of a `require`.
    banner: {},
    bundle: false,
    entry: {
      compiler: "src/protocol/compiler.ts",
      late: "src/tools/late.ts",
      "load-embedded": "src/tools/code/load-embedded.ts",
    },
    esbuildPlugins: [
      {
        name: "late",
        setup(build) {
          build.onLoad({ filter: /compiler\.ts$/ }, async ({ path }) => ({
            // Modules of Node have no `require`: one is made there. Bun and bundlers have to see the plain call.
            contents: (await Bun.file(path).text())
              .replace('require("typebox/schema")', loading(`${fileOf("typebox/schema")}.js`))
              .concat(`export const loadComputedTypes = () => ${loading("./typebox-types.js")};`, LOADING),
            loader: "ts",
          }));
          build.onLoad({ filter: /\/late\.ts$/ }, async ({ path }) => ({
            contents: (await Bun.file(path).text()).replace(/require\("\.\/\w+\/([\w-]+)"\)/g, 'require("./$1.js")'),
            loader: "ts",
          }));
        },
      },
    ],
  },
  {
    ...shared,
    // One file without chunks, since a process that is started for each run reads it.
    splitting: false,
    entry: { "process-worker": "src/tools/code/process/process-worker.ts" },
    minify: true,
    external: [/^bun(:|$)/],
  },
  {
    ...shared,
    splitting: false,
    minify: true,
    entry: {
      "sandbox-worker": "src/tools/code/sandbox/sandbox-worker.ts", // Started as a program, from beside the others.
      "source-worker": "src/tools/code/source/source-worker.ts", // Started as a thread, likewise.
    },
    external: ["acorn", /^@sveltejs\//, /^@jitl\//, /^bun(:|$)/],
  },
  {
    ...shared,
    entry: {
      ...Object.fromEntries(typebox.map((specifier) => [fileOf(specifier).slice(2), entryOf(specifier)])),
      "typebox-types": TYPES,
    },
    noExternal: [/^typebox/],
    minify: true,
    esbuildPlugins: [
      {
        name: "types",
        setup(build) {
          build.onResolve({ filter: /^\.\/compiler\.js$/ }, ({ path }) => ({ path, external: true }));
          build.onLoad({ filter: /typebox\/build\/index\.mjs$/ }, () => ({ contents: typeOfPackage() }));
          // The rest is a third of it, above all the schemas of six drafts of JSON Schema; of a module that is required, no
          // bundler can leave anything out.
          build.onLoad({ filter: /typebox\/build\/schema\/index\.mjs$/ }, () => ({
            contents: 'export { Compile, Errors } from "./schema.mjs";',
          }));
          build.onLoad({ filter: /typebox\/build\/typebox\.mjs$/ }, () => ({
            contents: exportsOfType().computing.join("\n"),
          }));
          // What Optional, Readonly and Immutable do is in one file with how such types are computed, and is taken out of it.
          build.onResolve({ filter: /\/instantiate_add\.mjs$/ }, ({ importer, path }) =>
            /\/_add_\w+\.mjs$/.test(importer) ? { path: join(dirname(importer), path), suffix: "?plain" } : undefined,
          );
          build.onLoad({ filter: /\/instantiate_add\.mjs$/ }, ({ path, suffix }) => {
            const whole = readFileSync(path, "utf8");
            if (suffix !== "?plain") return { contents: whole };
            const contents = whole.replace(
              /^import .*InstantiateType.*$|^export function \w+Instantiate\([\s\S]*?^\}$/gm,
              "",
            );
            if (contents.includes("Instantiate")) throw new Error(`${path} is not as it was: see tsup.config.ts.`);
            return { contents };
          });
        },
      },
    ],
  },
]);
