/**
 * The part of Web Crypto that makes random numbers. They come from the kernel, whatever the seed of the run.
 *
 * It is carried into the sandbox as its own source text, at its first use.
 *
 * @param random gives that many bytes in hexadecimal digits; undefined if they are too many.
 */
export function cryptoGlobal(random: (bytes: string) => string | undefined): unknown {
  const MOST = 65_536;
  const INTEGERS = /^(?:Int|Uint|BigInt|BigUint)(?:8|16|32|64)(?:Clamped)?Array$/;
  const { get } =
    Reflect.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag) ?? {};

  const digitsOf = (bytes: unknown): string => {
    const digits = random(`${bytes}`);
    if (digits === undefined) throw fault("QuotaExceededError", `crypto makes ${MOST} random bytes at most.`);
    return digits;
  };
  const fault = (name: string, message: string): Error =>
    Object.defineProperty(new Error(message), "name", { value: name, configurable: true, writable: true });

  return {
    getRandomValues<List extends Uint8Array>(list: List): List {
      const kind: unknown = ArrayBuffer.isView(list) ? Reflect.apply(get as () => unknown, list, []) : undefined;
      if (typeof kind !== "string" || !INTEGERS.test(kind)) {
        throw fault("TypeMismatchError", "crypto.getRandomValues fills a typed array of integers.");
      }
      const { byteLength } = list;
      if (byteLength > MOST) throw fault("QuotaExceededError", `crypto.getRandomValues fills ${MOST} bytes at most.`);
      const digits = digitsOf(byteLength);
      const bytes = new Uint8Array(list.buffer, list.byteOffset, byteLength);
      for (let at = 0; at < byteLength; at++) bytes[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16);
      return list;
    },
    randomUUID(): string {
      const digits = digitsOf(16);
      const variant = "89ab"[Number.parseInt(digits[16] ?? "0", 16) & 3];
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`;
    },
  };
}
