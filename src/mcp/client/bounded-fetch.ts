const [LINE_FEED, RETURN, COLON] = [10, 13, 58];
const MOST_REDIRECTS = 5;

/**
 * A fetch whose responses are bounded: a body as a whole, and an event stream event by event, since each is one message. A larger
 * one fails while it is read. Redirects are followed only to the same origin, since the body and the headers are meant for that one.
 */
export const boundedFetch =
  (most: number) =>
  async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetchWithin(new URL(url), init);
    const { body, headers } = response;
    if (body === null) return response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const sizeAfter = isStream ? eventSizes() : bodySizes();
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (sizeAfter(chunk) > most)
          controller.error(new Error(`The server sent a message of more than ${most} bytes.`));
        else controller.enqueue(chunk);
      },
    });
    return new Response(body.pipeThrough(counter), response);
  };

/** Computes the size of a body after each piece. */
function bodySizes(): (piece: Uint8Array) => number {
  let size = 0;
  return (piece) => {
    size += piece.byteLength;
    return size;
  };
}

/** Computes the bytes that a reader of events holds after each piece. An event may have any number of lines, and ends with an empty one. */
function eventSizes(): (piece: Uint8Array) => number {
  /** Bytes of the event's whole lines. */
  let size = 0;
  /** Bytes of the last line, which may go on. */
  let line = 0;
  let isComment = false; // A reader drops it.
  let isBlank = true;
  return (piece) => {
    for (let at = 0; at < piece.length; ) {
      const found = piece.indexOf(LINE_FEED, at);
      const end = found < 0 ? piece.length : found;
      if (line === 0) isComment = piece[at] === COLON;
      for (let each = at; isBlank && each < end; each++) isBlank = piece[each] === RETURN;
      line += end - at;
      at = end + 1;
      if (found < 0) break;
      if (isBlank) size = 0;
      else if (!isComment) size += line;
      line = 0;
      isBlank = true;
    }
    return size + line;
  };
}

async function fetchWithin(url: URL, init: RequestInit | undefined): Promise<Response> {
  let at = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(at, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    if ((response.status !== 307 && response.status !== 308) || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, at.href);
    if (next?.origin !== url.origin) {
      throw new Error(`The server at ${url.origin} redirects elsewhere: if you trust that place, connect to it.`);
    }
    at = next;
  }
  throw new Error(`The server at ${url.origin} redirects more than ${MOST_REDIRECTS} times.`);
}
