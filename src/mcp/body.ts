import { type Clock, readJson } from "../index";
import type { McpLimits } from "./options";
import { refusals } from "./refusals";

const MOST_IN_BATCH = 100;

/** Reads the JSON of a request within the limits, or returns the refusal. Checks the headers first. */
export async function readMessage(
  request: Request,
  limits: McpLimits,
  clock: Clock,
): Promise<{ readonly value: unknown } | Response> {
  const { headers } = request;
  const encoding = headers.get("content-encoding");
  if (!isJson(headers.get("content-type")) || (encoding !== null && encoding !== "identity")) return refusals.type();
  const length = headers.get("content-length");
  if (length !== null && !(Number(length) <= limits.body)) return refusals.large(limits.body);
  const text = await readText(request, length !== null, limits, clock);
  return text instanceof Response ? text : parse(text, limits);
}

const isJson = (type: string | null): boolean =>
  type !== null && /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i.test(type);

async function readText(
  request: Request,
  isSized: boolean,
  limits: McpLimits,
  clock: Clock,
): Promise<string | Response> {
  const { bodyTime, body: most } = limits;
  const reader = isSized ? null : (request.body?.getReader() ?? null);
  const reading = reader === null ? request.text() : readChunks(reader, most);
  const { promise: late, resolve } = Promise.withResolvers<Response>();
  const timer =
    bodyTime === Number.POSITIVE_INFINITY ? null : clock.setTimer(() => resolve(refusals.slow(bodyTime)), bodyTime);
  try {
    const text = await Promise.race([reading, late]);
    if (text instanceof Response) reader?.cancel().catch(() => {}); // It has failed, and nobody waits for it.
    if (text === null || (typeof text === "string" && text.length > most)) return refusals.large(most); // A header may be wrong.
    return text;
  } catch {
    return refusals.cut();
  } finally {
    timer?.cancel();
    reading.catch(() => {}); // It may fail after its time was over.
  }
}

/** Null for a body that is too large. */
async function readChunks(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">,
  most: number,
): Promise<string | null> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.byteLength;
    if (size > most) {
      reader.cancel().catch(() => {}); // It has failed, and nobody waits for it.
      return null;
    }
    text += decoder.decode(step.value, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string, { depth }: McpLimits): { readonly value: unknown } | Response {
  const read = readJson(text, { depth });
  if (read.isErr()) {
    if (read.error === "too-deep") return refusals.deep(depth);
    return read.error === "no-json" ? refusals.json() : refusals.polluting();
  }
  const { value } = read;
  return Array.isArray(value) && value.length > MOST_IN_BATCH ? refusals.batch(MOST_IN_BATCH) : { value };
}
