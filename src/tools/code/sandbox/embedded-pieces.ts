import load from "@jitl/quickjs-wasmfile-release-sync/emscripten-module";
import type { LoadModule } from "./pieces";

// The same as pieces.ts, in a program that is handed over as one text. child-program.ts writes these before it, in base64.
declare const ENVOI_WASM: string;
declare const ENVOI_IMAGE: string;

export const moduleLoader = async (): Promise<LoadModule> => load as unknown as LoadModule; // As in pieces.ts.

export const moduleBytes = async (): Promise<ArrayBuffer> => Uint8Array.fromBase64(ENVOI_WASM).buffer;

export const startImage = (): Buffer<ArrayBuffer> => Buffer.from(Uint8Array.fromBase64(ENVOI_IMAGE).buffer);
