import { serveWorker } from "../../../src/workers/index";

serveWorker(() => ({}));
serveWorker(() => ({}));
