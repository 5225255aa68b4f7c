import { readFileSync } from "node:fs";

// What the interpreter is made of. In the text that is handed to the processes of a bundle or a compiled application,
// embedded-pieces.ts is in the place of this file (see scripts/embed.ts).

/** Makes an instance of it. */
export type LoadModule = (options: object) => Promise<unknown>;

/** @throws where it is not installed. */
export async function moduleLoader(): Promise<LoadModule> {
  const { default: load } = await import("@jitl/quickjs-wasmfile-release-sync/emscripten-module");
  return load as LoadModule; // It is declared for the usual bindings, which use other parts of it.
}

/** @throws where it is not installed. */
export const moduleBytes = (): Promise<ArrayBuffer> =>
  Bun.file(Bun.fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"))).arrayBuffer();

/** What an interpreter that has just started is like, where the build has written it down (to a third of its size). Among the sources it has not. */
export function startImage(): Buffer | undefined {
  try {
    return Bun.zstdDecompressSync(readFileSync(new URL("./sandbox.image", import.meta.url)));
  } catch {
    return undefined;
  }
}
