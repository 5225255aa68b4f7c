import type { FileSystemOptions, Limits } from "../options";
import { type Root, Status } from "../root/root";
import type { Volume } from "../root/volume";
import { Quota } from "./quota";
import type { Counter } from "./usage";

/** Makes the quota that an actor's options ask for, or null. */
export function openQuota(
  { volume }: Pick<FileSystemOptions, "volume">,
  { quotaBytes: bytes, quotaFiles: files, quota }: Limits,
  root: Root,
  counter: Counter,
): Quota | null {
  if (bytes === undefined && files === undefined && quota === undefined) return null;
  const status = new Status();
  root.stat(root.top, status);
  const place = volume === undefined ? "" : numberOf(volume);
  return new Quota({ bytes, files }, counter, quota ?? null, `${place}:${status.device}:${status.inode}`);
}

/** A number for each volume in memory. Their directories have the same inodes. */
const numbers = new WeakMap<Volume, number>();
let volumes = 0;

function numberOf(volume: Volume): number {
  const number = numbers.get(volume) ?? ++volumes;
  numbers.set(volume, number);
  return number;
}
