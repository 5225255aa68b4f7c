import { serveWorker } from "../../src/workers/index";
import { start } from "./actors";
import { Log } from "./protocols";

serveWorker((system, worker) => start(system, worker.ref("log", Log)));
