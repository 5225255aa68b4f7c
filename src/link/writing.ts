import { type Address, type AnyRef, isRef } from "../index";
import { type Beside, partedBytes } from "./bytes";
import { asMine, asYours, writePart } from "./frames";

/** A payload, a reply or an item as it is written, with its bytes, if it has any. */
export type Written =
  | { readonly text: string; readonly beside?: Beside }
  | { readonly path: string; readonly message: string };

interface WritingOptions {
  /** Called for each reference of this system that leaves. False if it left before. Throws when there are too many. */
  readonly lend: (ref: AnyRef) => boolean;
  /** Called for each that was lent, but did not leave. */
  readonly takeBack: (ref: AnyRef) => void;
  /** The address on the other side of a reference to one of its actors; undefined for other references. */
  readonly homeOf: (at: Address) => Address | undefined;
  /** True where bytes that were marked leave beside the texts. */
  readonly carriesBytes: boolean;
}

/** Writes payloads, replies and items, and lends their references to the other side. */
export class Writing {
  readonly #options: WritingOptions;
  /** The references that were lent for the value that was written last. */
  readonly #justLent: AnyRef[] = [];

  constructor(options: WritingOptions) {
    this.#options = options;
  }

  write(value: unknown): Written {
    if (this.#justLent.length > 0) this.#justLent.length = 0; // Of an empty array too, it takes 30 ns to set.
    if (value === undefined) return NOTHING;
    const written = writePart(value, this.#replace);
    if ("text" in written || !this.#options.carriesBytes) return written;
    const parted = partedBytes(value); // Looked for only in what JSON cannot carry: other values cost no more.
    if (parted === undefined || "message" in parted) return parted ?? written;
    const rest = writePart(parted.value, this.#replace);
    return "text" in rest ? { text: rest.text, beside: parted } : rest;
  }

  /** Takes back the references that were lent for the value that was written last: it does not leave. */
  unwrite(): void {
    for (const ref of this.#justLent.splice(0)) this.#options.takeBack(ref);
  }

  /** Writes a reference as the place of its actor, and lends that to the other side where it is one of this side's. */
  readonly #replace = (object: object): unknown => {
    if (!isRef(object)) return object;
    const at = object.address;
    const home = this.#options.homeOf(at);
    if (home !== undefined) return asYours(home);
    if (this.#options.lend(object)) this.#justLent.push(object);
    return asMine(at);
  };
}

const NOTHING: Written = { text: "" };
