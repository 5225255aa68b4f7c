// What the actors of the tools are made of, each loaded when the first one is spawned.

/** Of a file actor: whoever runs code alone need not wait for it. */
export const loadFileActor = (): typeof import("./files/file-actor") => require("./files/file-actor");

/** Of what runs code: whoever serves files alone need not wait for it. */
export const loadCodeActor = (): typeof import("./code/code-actor") => require("./code/code-actor");
