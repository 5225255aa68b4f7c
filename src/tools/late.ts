// Loads the code of a tool's actor when the first such actor is spawned.

/** Loads the file actor. An application that only runs code never waits for it. */
export const loadFileActor = (): typeof import("./files/file-actor") => require("./files/file-actor");

/** Loads the code actor. An application that only serves files never waits for it. */
export const loadCodeActor = (): typeof import("./code/code-actor") => require("./code/code-actor");

/** Loads the fetch actor. An application that asks for no URL never waits for it. */
export const loadFetchActor = (): typeof import("./fetch/fetch-actor") => require("./fetch/fetch-actor");
