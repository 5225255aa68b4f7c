/** The same work without envoi, in a thread or a process of its own. A text is echoed; orders of control begin with a letter. */
import { isMainThread, parentPort } from "node:worker_threads";
import { ORDER } from "../desk";

const port = isMainThread ? null : parentPort;
const post = (text: string): void => void (port === null ? process.send?.(text) : port.postMessage(text));

let taken = 0;
function take(text: string): void {
  const first = text[0];
  if (first === "{") {
    if ((JSON.parse(text) as { quantity: number }).quantity === 12) taken++; // A tell: an object, which is read.
  } else if (first === "t") post(`t${taken}`);
  else if (first === "l") for (let left = Number(text.slice(1)); left > 0; left--) post(ORDER);
  else if (first === "x") process.exit(3);
  else post(text);
}

if (port === null) {
  process.on("message", take);
  process.on("disconnect", () => process.exit(0));
} else port.on("message", take);
post("h"); // It hears.
