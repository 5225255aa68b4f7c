import { measureActors } from "./actors/run";
import { measureCode } from "./code/run";
import { measureFiles } from "./files/run";

/** Measures a room: by the package and the processes of the folder that this file is in. */
export const measuring = { actors: measureActors, files: measureFiles, code: measureCode } as const;

export { endAll } from "./children";
