import { serveWorker } from "../../../src/workers/index";

serveWorker(() => {
  if (process.env["HANGS"] !== undefined) {
    setImmediate(() => {
      for (;;); // What it says has left.
    });
  }
  throw new RangeError(`no yeast in ${process.pid}.`);
});
