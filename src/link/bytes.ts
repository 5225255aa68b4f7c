import { Type } from "../index";
import { Code, MAX_DEPTH } from "./frames";

/** Binary data that can leave beside a text. */
export type Binary = ArrayBuffer | ArrayBufferView;

/** The bytes that `transfer` was called with. */
const marked = new WeakSet<object>();

const isBinary = (value: unknown): value is Binary => ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
const memoryOf = (bytes: Binary): ArrayBufferLike => (ArrayBuffer.isView(bytes) ? bytes.buffer : bytes);

/**
 * Lets bytes leave in a payload, a reply or an item for another worker, where JSON would carry none. The other side finds an array of the same class.
 *
 * A thread takes their memory over without a copy, as soon as the message is sent: here, the array has the length 0 from then on. A view of a part of a
 * buffer is copied, since the buffer may hold other data, and so is all that goes to a process. A message that is refused, or that cannot leave, takes
 * nothing along. To an actor of this system, the bytes go as they are.
 *
 * @returns the bytes themselves; for a `Buffer` its bytes as a `Uint8Array`, which is what arrives.
 * @throws TypeError for what is no `ArrayBuffer`, no typed array and no `DataView`, and for memory that is shared: send its parts as a copy.
 * @example
 * await render.ask("draw", { width: 640, pixels: transfer(pixels) });
 */
export function transfer(bytes: Buffer): Uint8Array;
export function transfer<Data extends ArrayBuffer | ArrayBufferView>(bytes: Data): Data;
export function transfer(bytes: Binary): Binary {
  if (!isBinary(bytes)) {
    throw new TypeError(`transfer() takes an ArrayBuffer, a typed array or a DataView; got ${typeof bytes}.`);
  }
  if (!(memoryOf(bytes) instanceof ArrayBuffer)) {
    throw new TypeError(
      "transfer() takes no shared memory, which has no single owner: transfer a copy, bytes.slice().",
    );
  }
  const plain = Buffer.isBuffer(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;
  marked.add(plain);
  return plain;
}

/**
 * The schema of a `Uint8Array`, for what `transfer` lets leave. JSON cannot hold it: an operation that has it in its payload has no JSON Schema.
 *
 * @example
 * const Render = defineProtocol("render", { draw: { payload: Type.Object({ pixels: Bytes }), reply: Bytes } });
 */
export const Bytes = Type.Refine(
  Type.Unsafe<Uint8Array>({}),
  (value) => value instanceof Uint8Array,
  () => "must be a Uint8Array",
);

/** The bytes of a value, and the paths to them as JSON. */
export interface Beside {
  readonly paths: string;
  readonly bytes: readonly Binary[];
}

type Path = readonly (string | number)[];
interface Fault {
  readonly path: string;
  readonly message: string;
}

/** A value whose bytes were taken out: null stands in place of each. */
interface Parted extends Beside {
  readonly value: unknown;
}

/** Takes the bytes out of a value that JSON cannot carry, or says why they cannot leave; undefined where it has none. Copies what it changes. */
export function partedBytes(value: unknown): Parted | Fault | undefined {
  const parting = new Parting();
  try {
    const rest = parting.without(value, []);
    if (parting.paths.length === 0) return undefined;
    return { value: rest, paths: JSON.stringify(parting.paths), bytes: parting.bytes };
  } catch (thrown) {
    return thrown instanceof Refused ? { path: thrown.path, message: thrown.message } : undefined; // A getter of the value threw.
  }
}

class Refused extends Error {
  readonly path: string;

  constructor(path: Path, message: string) {
    const at = path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
    super(`${at === "" ? "The value" : at} is binary data${message}`);
    this.path = at;
  }
}

class Parting {
  readonly paths: Path[] = [];
  readonly bytes: Binary[] = [];
  readonly #memories = new Set<unknown>();
  readonly #parents: object[] = [];

  /** Gives a value with null in place of its bytes. A cycle, and all that JSON carries in another form, stays as it is. */
  without(value: unknown, path: Path): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (isBinary(value)) return this.#take(value, path);
    if ("toJSON" in value || path.length > MAX_DEPTH || this.#parents.includes(value)) return value;
    const isArray = Array.isArray(value);
    if (!isArray && Object.prototype.toString.call(value) !== "[object Object]") return value;
    this.#parents.push(value);
    const before: Record<string | number, unknown> = value as Record<string, unknown>; // Read by its own keys alone.
    let copy: Record<string | number, unknown> | null = null;
    // Other properties of an array are no part of JSON.
    for (const key of isArray ? value.keys() : Object.keys(value)) {
      const item = before[key];
      const rest = this.without(item, [...path, key]);
      if (rest === item) continue;
      copy ??= (isArray ? [...value] : { ...value }) as Record<string, unknown>; // As above.
      copy[key] = rest;
    }
    this.#parents.pop();
    return copy ?? value;
  }

  #take(bytes: Binary, path: Path): null {
    const memory = memoryOf(bytes);
    if (!marked.has(bytes)) {
      throw new Refused(path, ", which JSON cannot carry; send transfer(bytes) of envoi/workers, or base64 text.");
    }
    if (memory instanceof ArrayBuffer && memory.detached) {
      throw new Refused(
        path,
        " that has left already: transfer() gives it away; send a copy, transfer(bytes.slice()).",
      );
    }
    const leaving = memory.byteLength === bytes.byteLength ? bytes : copyOf(bytes);
    if (this.#memories.has(memoryOf(leaving))) {
      throw new Refused(path, " that is in this message twice; send it once, or a copy, transfer(bytes.slice()).");
    }
    this.#memories.add(memoryOf(leaving));
    this.bytes.push(leaving);
    this.paths.push(path);
    return null;
  }
}

/** A view of a part of a buffer, in a buffer of its own. */
function copyOf(view: Binary): Binary {
  if (view instanceof ArrayBuffer) return view; // It is all of itself.
  const memory = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
  return view instanceof DataView ? new DataView(memory) : (view as Uint8Array).slice(); // Each typed array has that method.
}

/** The places of payloads in the frames that have one. */
const PLACES: Readonly<Record<number, number>> = {
  [Code.tell]: 5,
  [Code.ask]: 7,
  [Code.askWithProgress]: 7,
  [Code.offer]: 7,
  [Code.stream]: 7,
  [Code.reply]: 2,
  [Code.items]: 2,
};

/**
 * Puts the bytes that came beside a text into its payload: the first frame has their paths, and the last one the payload.
 *
 * @returns false when a place is none, or bytes are none.
 */
export function putBytes(frames: readonly unknown[], bytes: readonly unknown[]): boolean {
  const [head] = frames;
  const frame = frames.at(-1);
  if (!Array.isArray(head) || head[0] !== Code.bytes || !Array.isArray(frame)) return false;
  const paths: unknown = head[1];
  const place = PLACES[frame[0] as number]; // Another value is no key of it.
  if (place === undefined || !Array.isArray(paths) || paths.length !== bytes.length) return false;
  return paths.every(
    (path: unknown, at) => Array.isArray(path) && isBinary(bytes[at]) && put(frame, [place, ...path], bytes[at]),
  );
}

function put(frame: readonly unknown[], path: readonly unknown[], bytes: Binary): boolean {
  let holder: unknown = frame;
  for (const [at, key] of path.entries()) {
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key as string)) return false; // Any value is looked up as a text.
    const fields = holder as Record<string, unknown>; // It has the key.
    if (at < path.length - 1) holder = fields[key as string];
    else if (fields[key as string] !== null) return false;
    else fields[key as string] = bytes;
  }
  return true;
}
