import type { Context } from "@opentelemetry/api";
import { type HandsOn, inheritedBy, type Metadata, type ObservedHandling } from "../../index";
import { metadataWithout, Scope } from "./scope";

// A handler in a span hands on the metadata that stand for its span, and the others that its message hands on anyway.

/** Gives the metadata that a handling in a context hands on. The result also tells the context of a handling, which saves a field for it. */
export function handsOn(handling: ObservedHandling, own: Context): HandsOn {
  if (!(own instanceof Scope)) return new Handed(handling, own);
  return hasOthers(handling.metadata) ? new Handed(handling, own) : own;
}

/** The context that a handling was given; undefined where no tracer has given it one. */
export function contextOf({ handsOn }: ObservedHandling): Context | undefined {
  if (handsOn instanceof Scope) return handsOn;
  return handsOn instanceof Handed ? handsOn.own : undefined;
}

/** For a message that has other metadata, or a context without a span. */
class Handed implements HandsOn {
  readonly own: Context;
  readonly #handling: ObservedHandling;
  #made: Metadata | undefined;

  constructor(handling: ObservedHandling, own: Context) {
    this.#handling = handling;
    this.own = own;
  }

  get metadata(): Metadata {
    this.#made ??= Object.freeze(this.#make());
    return this.#made;
  }

  #make(): Metadata {
    const { own } = this;
    const { ref, metadata } = this.#handling;
    const inherited = inheritedBy(ref, metadata) ?? {};
    return own instanceof Scope ? merged(inherited, own) : { ...inherited, ...metadataWithout(own) };
  }
}

/** The metadata of a message, with those of a scope in place of others of a trace. */
export function merged(given: Metadata, { metadata }: Scope): Metadata {
  if (!hasOthers(given)) return metadata;
  const { traceparent: _, tracestate: __, baggage, ...others } = given;
  return { ...(baggage !== undefined && { baggage }), ...others, ...metadata };
}

/** True for metadata that are not about a trace alone. Counted, since to look at each name took 20 ns more. */
function hasOthers(metadata: Metadata): boolean {
  const { traceparent, tracestate, baggage } = metadata;
  const known = Number(traceparent !== undefined) + Number(tracestate !== undefined) + Number(baggage !== undefined);
  return Object.keys(metadata).length !== known;
}
