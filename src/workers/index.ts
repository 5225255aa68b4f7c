export { Bytes, mayHaveBegun, transfer } from "../link/index";
export type { WorkerReport } from "./member";
export type { WorkerPoolOptions, WorkersOptions } from "./options";
export { type StartWorker, serveWorker, type WorkerContext } from "./serve";
export { spawnWorkers, type Workers } from "./workers";
