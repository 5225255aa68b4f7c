/** A thread in place of the one that reads sources: it ends over the ones that say so. */
import type { Errand } from "../../../../../src/tools/code/source/errand";

declare const self: Worker;

let count = 0;
self.addEventListener("message", ({ data }: MessageEvent<Errand | "leave">) => {
  if (data === "leave" || data.code.startsWith("end")) process.exit(0);
  if (data.code.startsWith("throw")) throw new Error("It failed.");
  if (data.code.startsWith("once") && count > 0) process.exit(1);
  count++;
  self.postMessage({ reading: { body: `${count}`, declares: [], origins: [] } });
});
