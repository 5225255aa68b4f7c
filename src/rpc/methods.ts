import { type AnyRef, type OpenDoor, operationsOf, quote, receive } from "../index";
import type { Served } from "./contract";

// The methods that the other side may call.

/** The actor that a method leads to. */
export interface Way {
  readonly door: OpenDoor;
  /** False for an operation that takes nothing. */
  readonly hasPayload: boolean;
}

/** A method that the other side may call. */
export interface Method {
  readonly name: string;
  readonly operation: string;
  readonly needs: string | undefined;
  readonly longest: number;
  /** Undefined if the actor is found by the params. */
  readonly way: Way | undefined;
  readonly ref: Served["ref"];
}

export const wayTo = (ref: AnyRef, operation: string): Way => {
  const operations = operationsOf(ref);
  return { door: receive(ref), hasPayload: operations === null || operations[operation]?.hasPayload !== false };
};

/** The payload in params. Some senders write null, or an empty object, where a method takes nothing. */
export function payloadFor(hasPayload: boolean, params: unknown): unknown {
  if (params === null || params === undefined) return undefined;
  return hasPayload || Object.keys(params).length > 0 ? params : undefined;
}

const KEYS = ["ref", "operation", "needs", "longest"];

export function methodOf(name: string, served: Served, longest: number): Method {
  const of = `The method ${quote(name)}`;
  if (typeof served !== "object" || served === null) {
    throw new TypeError(`${of} is served by { ref, operation }; got ${quote(served)}.`);
  }
  const odd = Object.keys(served).find((key) => !KEYS.includes(key));
  if (odd !== undefined) throw new TypeError(`${of} has no ${quote(odd)}; write ${KEYS.join(", ")}.`);
  const { ref, operation, needs } = served;
  const time = served.longest ?? longest;
  if (typeof operation !== "string" || operation === "") {
    throw new TypeError(`${of} names its operation; got ${quote(operation)}.`);
  }
  if (needs !== undefined && typeof needs !== "string") {
    throw new TypeError(`${of} needs a capability, which is a text; got ${quote(needs)}.`);
  }
  if (!(typeof time === "number" && time > 0)) {
    throw new RangeError(`${of} may take a number of milliseconds above 0, or Infinity; got ${quote(time)}.`);
  }
  if (typeof ref === "function") return { name, operation, needs, longest: time, way: undefined, ref };
  const operations = operationsOf(ref); // It throws for what is no reference.
  if (operations !== null) {
    const found = operations[operation];
    if (found === undefined) {
      throw new TypeError(
        `${of} leads to no operation ${quote(operation)}; write one of ${Object.keys(operations).join(", ")}.`,
      );
    }
    if (found.isStream) {
      throw new TypeError(
        `${of} leads to ${quote(operation)}, which is a stream; JSON-RPC has a form only for replies.`,
      );
    }
    found.payload.parse(undefined); // Compiles it: the first message would wait for that.
  }
  return { name, operation, needs, longest: time, way: wayTo(ref, operation), ref };
}
