import { readFileSync } from "node:fs";

// The pieces of the interpreter. In the program text for processes of a bundle or a compiled application,
// embedded-pieces.ts replaces this file (see scripts/embed.ts).

/** Makes an instance of the WebAssembly module. */
export type LoadModule = (options: object) => Promise<unknown>;

/** @throws if QuickJS is not installed. */
export async function moduleLoader(): Promise<LoadModule> {
  const { default: load } = await import("@jitl/quickjs-wasmfile-release-sync/emscripten-module");
  return load as LoadModule; // Its declared type serves the usual bindings, which use other parts.
}

/** @throws if QuickJS is not installed. */
export const moduleBytes = (): Promise<ArrayBuffer> =>
  Bun.file(Bun.fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"))).arrayBuffer();

/** The snapshot of a fresh interpreter, compressed to a third. Undefined in the sources, where no build has written it. */
export function startImage(): Buffer | undefined {
  try {
    return Bun.zstdDecompressSync(readFileSync(new URL("./sandbox.image", import.meta.url)));
  } catch {
    return undefined;
  }
}
