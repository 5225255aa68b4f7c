import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** A stream of messages in memory, as the official SDK takes one. */
export function streamOf(onSend: (message: AnyMessage) => void): { stream: Stream; take(message: AnyMessage): void } {
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  const readable = new ReadableStream<AnyMessage>({
    start(begun) {
      controller = begun;
    },
  });
  const writable = new WritableStream<AnyMessage>({ write: onSend });
  return { stream: { readable, writable }, take: (message) => controller?.enqueue(message) };
}

/** Two that are each other's end. Messages are written and parsed in between, as on their way to another process. */
export function pair(): [Stream, Stream] {
  const here = streamOf((message) => there.take(JSON.parse(JSON.stringify(message))));
  const there = streamOf((message) => here.take(JSON.parse(JSON.stringify(message))));
  return [here.stream, there.stream];
}
