/** A host on a machine whose kernel refuses one of its calls, by its number: it tries to run code. */
import { addressOf, openKernel } from "../../../../../src/tools/code/pool/kernel";
import { processes } from "../kit";

const kernel = openKernel();
if (kernel === undefined) throw new Error("There is no way to the kernel.");
const filter = new Uint8Array(4 * 8);
const view = new DataView(filter.buffer);
// The number of the call; where it is that one, EPERM; all others are allowed.
for (const [index, [code, jumps, value]] of [
  [0x20, 0, 0],
  [0x15, 0x0100, Number(process.argv[2])],
  [0x06, 0, 0x00050001],
  [0x06, 0, 0x7fff0000],
].entries() as IterableIterator<[number, [number, number, number]]>) {
  view.setUint16(index * 8, code, true);
  view.setUint16(index * 8 + 2, jumps, true);
  view.setUint32(index * 8 + 4, value, true);
}
const program = new Uint8Array(16);
new DataView(program.buffer).setUint16(0, 4, true);
new DataView(program.buffer).setBigUint64(8, BigInt(addressOf(filter)), true);
if (kernel(157, 38, 1) !== 0 || kernel(317, 1, 1, program) !== 0) throw new Error("The filter was refused.");

const { tier, run } = processes({ size: 1 });
const ended = [await run("return 1"), await run("return 1")];
await tier.dispose();
console.log(JSON.stringify(ended));
