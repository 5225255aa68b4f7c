import { serveWorker } from "../../../src/workers/index";

serveWorker(() => {
  throw new RangeError(`no yeast in ${process.pid}.`);
});
