/**
 * Packs the programs of the code actor's processes into one module, for bundles and compiled applications, which have no
 * files beside them: each program as one text with all that it imports, and the interpreter.
 */
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";

const root = join(import.meta.dir, "..");
const code = join(root, "src/tools/code");
const PROGRAMS = {
  "sandbox-worker": "sandbox/sandbox-worker.ts",
  "process-worker": "process/process-worker.ts",
  "source-worker": "source/source-worker.ts",
};
/** What is packed and is not ours, and where its licence is. */
const LICENCES = {
  acorn: "acorn/LICENSE",
  "@sveltejs/acorn-typescript": "@sveltejs/acorn-typescript/LICENSE.md",
  "@jitl/quickjs-wasmfile-release-sync": "@jitl/quickjs-wasmfile-release-sync/LICENSE",
};
/** Writes `embedded.js` and the licences of what is in it into a folder. */
export async function embed(folder: string): Promise<void> {
  const parts: [name: string, bytes: Uint8Array][] = [];
  for (const [name, path] of Object.entries(PROGRAMS)) parts.push([name, await programText(join(code, path))]);
  const wasm = Bun.resolveSync("@jitl/quickjs-wasmfile-release-sync/wasm", root);
  parts.push(["wasm", await Bun.file(wasm).bytes()]);
  const head = Buffer.from(`${JSON.stringify(parts.map(([name, { length }]) => [name, length]))}\n`);
  const packed = brotliCompressSync(Buffer.concat([head, ...parts.map(([, bytes]) => bytes)])); // zstd: 5 % more.
  await Bun.write(
    join(folder, "embedded.js"),
    `// @bun\nexport const size = ${packed.length};\nexport const embedded = "${inLetters(packed)}";\n`,
  );
  const licences = await Promise.all(
    Object.entries(LICENCES).map(async ([name, path]) => {
      return `${name}\n\n${(await Bun.file(join(root, "node_modules", path)).text()).trim()}\n`;
    }),
  );
  await Bun.write(join(folder, "embedded.license.txt"), licences.join("\n\n"));
}

/** Writes 13 bits in two letters of 91, which is a thirteenth shorter than base64. `bytesOf` in child-program.ts reads it. */
function inLetters(bytes: Uint8Array): string {
  // The letters of ASCII that no string of JavaScript writes in another way.
  const letters = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).filter(
    (each) => !'"\\`'.includes(each),
  );
  let text = "";
  let bits = 0;
  let count = 0;
  const add = (): void => {
    text += `${letters[(bits & 8191) % 91]}${letters[Math.floor((bits & 8191) / 91)]}`;
    bits >>= 13;
    count -= 13;
  };
  for (const byte of bytes) {
    bits |= byte << count;
    count += 8;
    if (count >= 13) add();
  }
  if (count > 0) add();
  return text;
}

async function programText(entry: string): Promise<Uint8Array> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "bun",
    minify: true,
    plugins: [
      {
        name: "pieces",
        setup: (build) =>
          void build.onResolve({ filter: /^\.\/pieces$/ }, () => ({ path: join(code, "sandbox/embedded-pieces.ts") })),
      },
    ],
  });
  const [output, more] = outputs;
  if (output === undefined || more !== undefined) throw new Error(`${outputs.length} files came of ${entry}`);
  return new Uint8Array(await output.arrayBuffer());
}
