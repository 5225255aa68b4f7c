import { parentPort } from "node:worker_threads";
import { serveWorker } from "../../../src/workers/index";
import { Rude } from "./protocols";

// A worker whose own code posts where envoi does.
const post = (what: unknown): void => void (parentPort === null ? process.send?.(what) : parentPort.postMessage(what));

serveWorker(
  (system) => ({
    rude: system.spawn("rude", Rude, () => ({
      say(what) {
        post(what);
        return null;
      },
      sayForEver(what) {
        post(what);
        return new Promise(() => undefined);
      },
      hearForEver(what) {
        process.emit("message", what, undefined);
        return new Promise(() => undefined);
      },
    })),
  }),
  { logger: { warn: () => undefined, error: () => undefined } },
);
