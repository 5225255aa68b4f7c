import { serveWorker } from "../../../src/workers/index";
import { start } from "./actors";

serveWorker(start);
