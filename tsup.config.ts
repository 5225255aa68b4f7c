import { defineConfig, type Options } from "tsup";

// TypeBox goes into the package: imported from node_modules it costs 58 ms at start, from these files 13. It is minified
// (to 0.4 of its size); our own code is not, and has no source maps: Bun reads none from packages, so a stack trace shows
// what is written here. (Shorter names saved no time at start; esbuild's keepNames cost 7 ms.)
const typebox = ["typebox", "typebox/schema"];
const fileOf = (specifier: string) => specifier.replaceAll("/", "-");

const shared: Options = {
  format: "esm",
  target: "esnext",
  platform: "node",
  splitting: true,
  removeNodeProtocol: false,
};

export default defineConfig([
  {
    ...shared,
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
            typebox.includes(path)
              ? { path: `./${fileOf(path)}.js`, external: true }
              : { errors: [{ text: `"${path}" is not bundled: add it to the list in tsup.config.ts.` }] },
          );
        },
      },
    ],
  },
  {
    ...shared,
    // One file without chunks, since a process that is started for each run reads it.
    splitting: false,
    banner: { js: "// @bun" }, // Tells Bun that there is nothing to transpile, which takes it 1 ms.
    entry: { "process-worker": "src/tools/code/process/process-worker.ts" },
    external: [/^bun(:|$)/],
  },
  {
    ...shared,
    entry: Object.fromEntries(
      typebox.map((specifier) => [fileOf(specifier), Bun.resolveSync(specifier, process.cwd())]),
    ),
    noExternal: [/^typebox/],
    minify: true,
  },
]);
