/**
 * Attacks one candidate, in a process of its own, which may hang: `attack.ts <folder> race <name> <seconds>` or
 * `attack.ts <folder> fifo <name>`. Prints `started`, and then what came of it as JSON.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { named } from "../room";
import { candidates, type FilePeer, openPeer } from "./peer";
import type { Race } from "./results";

async function race(peer: FilePeer, folder: string, seconds: number): Promise<Race> {
  const [root, outside] = [join(folder, "root"), join(folder, "outside")];
  mkdirSync(join(root, "inner"));
  mkdirSync(outside);
  writeFileSync(join(root, "inner/file.txt"), "inside");
  writeFileSync(join(outside, "file.txt"), "outside");
  symlinkSync(outside, join(root, "link"));
  const swapper = Bun.spawn(
    [process.execPath, join(import.meta.dir, "swapper.ts"), join(root, "inner"), join(root, "link")],
    { stdout: "pipe", stderr: "inherit" },
  );
  await swapper.stdout.getReader().read();
  const end = performance.now() + seconds * 1_000;
  let reads = 0;
  let escapes = 0;
  let inside = 0;
  for (; performance.now() < end; reads++) {
    const text = await peer.read("inner/file.txt").catch(() => "refused");
    if (text.includes("outside")) escapes++;
    else if (text.includes("inside")) inside++;
    // An actor that answers at once gives the event loop no turn of its own, and the swapper may end meanwhile.
    if (reads % 1_000 === 0) await Bun.sleep(0);
  }
  if (swapper.exitCode !== null) throw new Error("the swapping ended before the reads did");
  swapper.kill("SIGKILL");
  await swapper.exited;
  return { reads, escapes, inside };
}

async function fifo(peer: FilePeer, root: string): Promise<{ readonly answer: "refuses" | "reads" }> {
  const { success } = Bun.spawnSync(["mkfifo", join(root, "pipe")]);
  if (!success) throw new Error("mkfifo failed");
  return peer.read("pipe").then(
    () => ({ answer: "reads" }),
    () => ({ answer: "refuses" }),
  );
}

const [folder = "", kind, name = "", seconds] = process.argv.slice(2);
const root = join(folder, "root");
mkdirSync(root);
const peer = await openPeer(named(candidates, name), root);
console.log("started");
writeFileSync(join(root, "first.txt"), "first");
// One that refuses everything would be safe from anything.
if ((await peer.read("first.txt")).trim() !== "first") throw new Error("it did not read a plain file");
const outcome = kind === "race" ? await race(peer, folder, Number(seconds)) : await fifo(peer, root);
console.log(JSON.stringify(outcome));
await peer.close();
process.exit(0);
