import { defineConfig, type Options } from "tsup";

// TypeBox goes into the package: imported from node_modules it costs 58 ms at start, from these files 13. It is minified
// (to 0.4 of its size); our own code is not. (Shorter names saved no time at start; esbuild's keepNames cost 7 ms.)
const typebox = ["typebox", "typebox/schema"];
const fileOf = (specifier: string) => `./${specifier.replaceAll("/", "-")}`;

const shared: Options = {
  format: "esm",
  target: "esnext",
  platform: "node",
  splitting: true,
  removeNodeProtocol: false,
  // Tells Bun that there is nothing to transpile, which takes it 15 ms for the core, and 26 with the tools, where it has not
  // done so before. What it then shows of an error is from a source map, or not in its place.
  banner: { js: "// @bun" },
};

export default defineConfig([
  {
    ...shared,
    sourcemap: true,
    entry: {
      index: "src/index.ts",
      testing: "src/testing/index.ts",
      tools: "src/tools/index.ts",
      benchmarks: "benchmarks/index.ts",
      internals: "src/tools/internals.ts", // For the benchmarks that come along, as `#internals`.
      "sandbox-worker": "src/tools/code/sandbox/sandbox-worker.ts", // Started as a program, from beside the others.
      "source-worker": "src/tools/code/source/source-worker.ts", // Started as a thread, likewise.
    },
    external: ["neverthrow", /^@jitl\//, /^bun(:|$)/],
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
          build.onResolve({ filter: /^\.{1,2}\/(protocol\/)?compiler$/ }, () => ({
            path: "./compiler.js",
            external: true,
          }));
        },
      },
    ],
  },
  {
    ...shared,
    // As it is, so that both Bun and its bundler see what is loaded late; Bun has to make something else of a `require`.
    banner: {},
    bundle: false,
    entry: { compiler: "src/protocol/compiler.ts" },
    esbuildPlugins: [
      {
        name: "compiler",
        setup(build) {
          build.onLoad({ filter: /compiler\.ts$/ }, async ({ path }) => ({
            contents: (await Bun.file(path).text()).replace(
              'require("typebox/schema")',
              `require("${fileOf("typebox/schema")}.js")`,
            ),
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
    external: [/^bun(:|$)/],
  },
  {
    ...shared,
    entry: Object.fromEntries(
      typebox.map((specifier) => [fileOf(specifier).slice(2), Bun.resolveSync(specifier, process.cwd())]),
    ),
    noExternal: [/^typebox/],
    minify: true,
  },
]);
