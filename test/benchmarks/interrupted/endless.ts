/** Subjects that do not end by themselves. */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disk, makeFolder } from "../../../benchmarks/harness/places";
import type { Readings } from "../../../benchmarks/harness/suite";

/** One that waits, with a folder and a process of its own. */
export function patient(): Promise<Readings> {
  makeFolder(disk);
  const inner = Bun.spawn([process.execPath, "-e", "setInterval(() => {}, 1000)"]);
  begun(inner.pid);
  return new Promise(() => {});
}

/** One that hears no signal. */
export function busy(): never {
  begun(process.pid);
  for (;;);
}

const begun = (pid: number) => writeFileSync(join(tmpdir(), "begun"), String(pid));
