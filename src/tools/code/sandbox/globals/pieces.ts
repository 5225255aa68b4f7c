import { cloneGlobal } from "./clone";
import { cryptoGlobal } from "./crypto";
import { fromAsyncGlobal } from "./from-async";
import { localeMethods } from "./locale";
import { textGlobals } from "./text";
import { urlGlobals } from "./url";

/**
 * Globals that few runs use. Each is evaluated in the sandbox at its first use, which takes 0.1 to 0.5 ms. None is part of
 * the image that is restored after each run.
 */
const LATE = {
  text: textGlobals,
  clone: cloneGlobal,
  url: urlGlobals,
  crypto: cryptoGlobal,
  fromAsync: fromAsyncGlobal,
  locale: localeMethods,
} as const;

export type LatePieces = typeof LATE;

/** The source text of a piece. */
export function latePiece(name: string): string | undefined {
  return Object.hasOwn(LATE, name) ? `(${LATE[name as keyof LatePieces]})` : undefined;
}
