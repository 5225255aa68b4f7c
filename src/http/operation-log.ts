import { type AnyRef, logOf } from "../index";

/** Logs what an operation met that somebody asked for. Each such line has the actor and the operation as details. */
export function logOperation(ref: AnyRef, operation: string, sentence: string, details?: object): void {
  logOf(ref).error(sentence, { address: ref.address, operation, ...details });
}
