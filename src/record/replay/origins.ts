import { AsyncLocalStorage } from "node:async_hooks";
import type { Metadata, System } from "../../index";
import { Sent, sentIn } from "./sent";
import type { RecordedMessage } from "./tape";

/** Travels in the metadata of what handlers send: the replayed message from outside that led to it. */
const ORIGIN = Symbol("origin");

/**
 * Follows what each message that is sent again leads to: through contexts, references, doors, forwards and pools, as the recorder followed
 * it.
 */
export function followOrigins(system: System): void {
  const handled = new AsyncLocalStorage<Sent>();
  system.onSend((sending) => {
    const { metadata, handling } = sending;
    const origin = sentIn(metadata) ?? sentAt(handling?.metadata) ?? sentAt(metadata) ?? handled.getStore();
    if (origin !== undefined) sending.mark(ORIGIN, origin);
  });
  system.around((handling, run) => {
    const origin = sentAt(handling.metadata);
    if (origin === undefined) run();
    else handled.run(origin, run);
  });
}

/** The recorded message from outside that led to a replayed one. Undefined where nobody knows. */
export const originIn = (metadata: Metadata | undefined): RecordedMessage | undefined => sentAt(metadata)?.recorded;

function sentAt(metadata: Metadata | undefined): Sent | undefined {
  const origin: unknown = metadata === undefined ? undefined : Reflect.get(metadata, ORIGIN);
  return origin instanceof Sent ? origin : undefined;
}
