import { type ClientError, ClientStreamError } from "./client-error";
import { inOrder } from "./items";
import { type CallOptions, Limit, type Settings } from "./settings";
import { type Call, errorIn, type Frame } from "./socket-link";

/** Items that are missing in their order; null where nobody knows how many. */
export class Gap {
  readonly missed: number | null;

  constructor(missed: number | null) {
    this.missed = missed;
  }
}

/** The source of a reader: a stream, or a topic. */
export interface SocketSource {
  /** Names it in sentences. */
  readonly what: string;
  /** The reason why it cannot be asked for; null if it can. */
  readonly error: ClientError | null;
  /** Sends the frame that begins it, and gives its id. */
  begin(call: Pick<Call, "take" | "fail">): string;
  cancel(id: string): void;
  /** Adds what a frame brings to the items and gaps that wait for the reader. True when it has begun for sure. */
  take(frame: Frame, waiting: unknown[]): boolean;
  /** True when it may be begun again after an error. */
  isRepeatable(error: ClientError): boolean;
  /** Called for each item that the reader gets. */
  onItem?(id: string | null): void;
  readonly onGap?: ((missed: number | null) => void | Promise<void>) | undefined;
}

/** Reads what comes by frames. It begins with the first read. */
export function readerOf(
  source: SocketSource,
  settings: Settings,
  options: Pick<CallOptions, "signal">,
): AsyncIterableIterator<unknown, undefined> {
  const { what, onGap } = source;
  const limit = new Limit(settings, options);
  const { signal } = limit;
  /** Items and gaps that were not read yet. */
  const waiting: unknown[] = [];
  let id: string | null = null;
  let attempts = 0;
  let ended = source.error ?? (signal.aborted ? limit.cancelled(what) : null);
  let isEnded = ended !== null;
  let wake = (): void => {};

  const end = (error: ClientError | null): void => {
    if (!isEnded) ended = error;
    isEnded = true;
    limit.end();
    wake();
  };
  const leave = (error: ClientError | null): void => {
    if (!isEnded && id !== null) source.cancel(id);
    end(error);
  };
  const fail = (error: ClientError): void => {
    if (!isEnded && attempts <= settings.retry.attempts && source.isRepeatable(error)) begin();
    else end(error);
  };
  const take = (frame: Frame): boolean => {
    if (frame.kind === "end") end(null);
    else if (frame.kind === "failure") fail(errorIn(frame, what));
    else {
      if (source.take(frame, waiting)) attempts = 0;
      wake();
      return false;
    }
    return true;
  };
  const begin = (): void => {
    attempts++;
    id = source.begin({ take, fail });
  };
  signal.addEventListener("abort", () => leave(limit.cancelled(what)));

  const read = async (): Promise<IteratorResult<unknown, undefined>> => {
    if (!isEnded && id === null) begin();
    for (;;) {
      const next = waiting.shift();
      if (next instanceof Gap) {
        try {
          await onGap?.(next.missed);
        } catch (thrown) {
          leave(null);
          throw thrown;
        }
      } else if (next !== undefined) {
        source.onItem?.(isEnded ? null : id);
        return { done: false, value: next };
      } else if (ended !== null) throw new ClientStreamError(ended);
      else if (isEnded) return { done: true, value: undefined };
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  };
  return inOrder(read, () => leave(null));
}
