import type { Spawner } from "../../index";
import { loadFileActor } from "../late";
import { type FileSystemOptions, limitsOf } from "./options";
import { FileSystem, type FileSystemRef } from "./protocol";

/**
 * Spawns an actor that serves the files below one directory, and nothing outside of it, also while others swap directories
 * for links there. It keeps what is being written in `.envoi` there, which stays (git ignores it), and which it does not show.
 *
 * @param spawner a system, or the context of the actor that is to be its parent.
 * @throws TypeError or RangeError for an option that cannot be one; Error where the root is no directory, this machine has
 * no safe way to serve it, or the name is in use.
 * @example
 * const files = spawnFileSystem(system, { root: "workspace", deny: ["**\/.env"] });
 * const written = resultOf(await files.ask("write", { path: "notes/today.md", content: "# Today" }));
 * if (written.isErr()) console.warn(written.error.message);
 */
export function spawnFileSystem(spawner: Spawner, options: FileSystemOptions): FileSystemRef {
  const limits = limitsOf(options);
  const { name = "files", supervision, phase, capacity, overflow } = options;
  const { factoryOf } = loadFileActor();
  const files = spawner.spawn(name, FileSystem, factoryOf(options, limits), {
    concurrency: limits.concurrency,
    validate: "always", // Whoever asks: what an agent makes up comes from within, too.
    ...(supervision && { supervision }),
    ...(phase !== undefined && { phase }),
    ...(capacity !== undefined && { capacity }),
    ...(overflow !== undefined && { overflow }),
  });
  // The first schema that a process compiles takes it 4 ms: now, and not while the first request is served.
  FileSystem.operations["read"]?.payload.parse({ path: "" });
  return files;
}
