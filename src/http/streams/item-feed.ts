import { type ActorStream, StreamError } from "../../index";
import type { Endpoint, EventFeed } from "../contract";
import { logOperation } from "../operation-log";
import { type Problem, problemOf, problemOfError } from "../problem";
import { type AddEvent, type Encoder, formatOf, unnumbered } from "./event-format";
import { LONG, ticks } from "./event-response";

/** Most items that the producer may be ahead. */
export const CREDIT = 64;

/** Most items of one chunk. */
const TOGETHER = 512;

/** Items that are taken at once, and the length of text after which they are taken one by one: long ones end a chunk early. */
const FEW = 16;
const SHORT = 16_384;

/** A read of a stream, which says whether it is answered. */
export class Ahead {
  isPending = true;
  failure: { readonly thrown: unknown } | null = null;
  readonly #step: Promise<IteratorResult<unknown, undefined>>;

  constructor(items: ActorStream<unknown>) {
    this.#step = items.next();
    this.#step.then(
      () => {
        this.isPending = false;
      },
      (thrown: unknown) => {
        this.isPending = false;
        this.failure = { thrown };
      },
    );
  }

  step(): Promise<IteratorResult<unknown, undefined>> {
    return this.#step;
  }
}

/** A failure as clients may know it. The rest is logged. */
export function problemOfThrown(endpoint: Endpoint, thrown: unknown): Problem {
  tell(endpoint, thrown);
  return thrown instanceof StreamError
    ? problemOfError(thrown.error)
    : problemOf("internal-error", "An item of the stream could not be written. The service's log says why.");
}

function tell({ actor, operation }: Endpoint, thrown: unknown): void {
  if (thrown instanceof StreamError && thrown.kind !== "handler-failed") return;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const sentence = `${operation.name} of "${actor.name}" failed for a request: ${message}`;
  const details = thrown instanceof StreamError ? { kind: thrown.kind, cause: thrown.cause } : { cause: thrown };
  logOperation(actor.ref, operation.name, sentence, details);
}

/** Reads a stream for its one response. */
export class ItemFeed implements EventFeed {
  isEnded = false;
  readonly goodbye: string;
  readonly #end: string | null;
  readonly #endpoint: Endpoint;
  readonly #items: ActorStream<unknown>;
  readonly #encoder: Encoder;
  readonly #release: () => void;
  #ahead: Ahead;
  #text = "";
  readonly #add: AddEvent = (data, event) => {
    this.#text += unnumbered(data, event, this.#end);
  };

  constructor(endpoint: Endpoint, items: ActorStream<unknown>, first: Ahead, release: () => void) {
    const { goodbye, end, encoder } = formatOf(endpoint.options);
    this.goodbye = goodbye;
    this.#end = end;
    this.#endpoint = endpoint;
    this.#items = items;
    this.#ahead = first;
    this.#encoder = encoder();
    this.#release = release;
  }

  async read(): Promise<string> {
    const add = this.#add;
    let count = 0;
    try {
      while (!this.isEnded && count < TOGETHER && this.#text.length < LONG) {
        if (count > 0 && this.#ahead.isPending) {
          await ticks(); // Items that come together go out together, in one chunk.
          if (this.#ahead.isPending) break;
        }
        const step = await this.#ahead.step();
        if (step.done === true) {
          this.isEnded = true;
          this.#encoder.end(add);
        } else {
          this.#encoder.item(step.value, add);
          count++;
          while (count < TOGETHER && this.#text.length < LONG) {
            const ready = this.#items.ready(this.#text.length < SHORT ? FEW : 1);
            if (ready.length === 0) break;
            for (const item of ready) this.#encoder.item(item, add);
            count += ready.length;
          }
          this.#ahead = new Ahead(this.#items);
        }
      }
    } catch (thrown) {
      this.isEnded = true;
      this.#encoder.error(problemOfThrown(this.#endpoint, thrown), add);
    }
    const text = this.#text;
    this.#text = "";
    return text;
  }

  leave(): void {
    this.#release();
    void this.#items.return();
  }
}
