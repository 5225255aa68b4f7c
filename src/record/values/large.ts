import type { Digest } from "./digest";
import { bytesOf } from "./kinds";
import type { Limits } from "./limits";
import { isMeasurable } from "./measurable";

/** Size and hash of a value that is too large as a whole. Its size is at least that of the limit where it cannot be measured. */
export function largeOf(value: unknown, digest: Digest, limits: Limits): string {
  const type = Array.isArray(value) ? "list" : typeof value;
  try {
    if (isMeasurable(value)) {
      const text = JSON.stringify(value);
      return `{"$large":{"bytes":${Buffer.byteLength(text)},"sha256":"${digest.hash(text)}","type":"${type}"}}`;
    }
  } catch {
    // A getter threw.
  }
  return `{"$large":{"bytes":${limits.value},"type":"${type}"}}`;
}

/** Size and hash of bytes. */
export function binaryOf(value: object, digest: Digest): string {
  const bytes = bytesOf(value);
  const type = Object.prototype.toString.call(value).slice("[object ".length, -1).replace(/\W/g, "");
  return `{"$binary":{"bytes":${bytes.byteLength},"sha256":"${digest.hash(bytes)}","type":"${type}"}}`;
}
