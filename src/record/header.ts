import type { System } from "../index";
import { FORMAT, type HeaderLine } from "./format";

/** The version of envoi. A test holds it to that of the package. */
export const VERSION = "0.1.0";

/** A seed for a recording that is given none: 32 bits of the machine's randomness. */
export const newSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

/** Makes the header of each part of a recording that begins now; the file adds the number of the part. */
export function headerOf(
  system: System,
  seed: number,
  include: readonly string[] | undefined,
  transforms: readonly string[],
  key: string,
): () => HeaderLine {
  const header: HeaderLine = {
    kind: "header",
    format: FORMAT,
    recording: crypto.randomUUID(),
    part: 1,
    envoi: VERSION,
    runtime: `bun ${Bun.version}`,
    system: system.name,
    startedAt: new Date(system.clock.wallTime()).toISOString(),
    seed,
    key,
    ...(include !== undefined && { include: [...include] }),
    ...(transforms.length > 0 && { transforms: [...transforms] }),
  };
  return () => header;
}
