import { median } from "../harness/statistics";
import type { Readings } from "../harness/suite";
import { DONE, installation } from "./installation";

/** Starts a program of the installed package, and tells in how many milliseconds it had ended. */
function start(folder: string, name: string, status: number): number {
  const began = performance.now();
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "--no-install", `${name}.ts`], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const taken = performance.now() - began;
  if (exitCode !== status) throw new Error(`${name}.ts ended with ${exitCode}, not ${status}: ${stderr}`);
  return taken;
}

/**
 * Starts a program so many times, each beside one that is empty: from the start of the process to its end, which is as soon
 * as its work is done. What they differ by is the median of the differences.
 */
export async function startsOf(name: string, times: number): Promise<Readings> {
  const folder = await installation();
  start(folder, name, DONE); // Reads the files from the disk.
  const all: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < times; i++) {
    const isFirst = i % 2 === 0; // Neither always finds the processor as the other left it.
    if (isFirst) bare.push(start(folder, "empty", 0));
    all.push(start(folder, name, DONE));
    if (!isFirst) bare.push(start(folder, "empty", 0));
  }
  const over = all.map((each, index) => each - (bare[index] ?? 0));
  return { time: median(all), "bare Bun": median(bare), "over bare Bun": median(over) };
}
