import type { ClientSdk } from "../sdk";

/** The code of the error that stands for an answer that was cut. */
export const CUT = -32_098;

/** Ends a request whose stream of events ends before its answer: the SDK would wait until the time of the call is over. */
export function tellOfCuts(transport: ClientSdk.StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const id = "id" in message && "method" in message ? message.id : undefined;
    if (id === undefined || options?.onRequestStreamEnd !== undefined) return send(message, options);
    const error = {
      code: CUT,
      message: "The answer was cut short: the connection ended, or had too much for one message.",
    };
    // After its answer, too, where nobody waits for the request any more.
    const onRequestStreamEnd = (): void => transport.onmessage?.({ jsonrpc: "2.0", id, error });
    return send(message, { ...options, onRequestStreamEnd });
  };
}
