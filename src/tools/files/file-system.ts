import type { Spawner } from "../../index";
import { loadFileActor } from "../late";
import { type FileSystemOptions, limitsOf } from "./options";
import { FileSystem, type FileSystemRef } from "./protocol";

/**
 * Spawns an actor that serves the files below one directory and nothing outside it, even while other programs swap
 * directories for links there. Unfinished writes are kept in `.envoi` in that directory. The directory `.envoi` stays,
 * is hidden from requests, and is ignored by git.
 *
 * @param spawner a system, or the context of the parent actor.
 * @throws TypeError or RangeError for an invalid option; Error if the root is no directory, this machine has no safe
 * way to serve it, or the name is in use.
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
    validate: "always", // Even from within the process, a request may have been made up by an agent.
    ...(supervision && { supervision }),
    ...(phase !== undefined && { phase }),
    ...(capacity !== undefined && { capacity }),
    ...(overflow !== undefined && { overflow }),
  });
  // The first schema compiled in a process takes 4 ms. Spend them now, not on the first request.
  FileSystem.operations["read"]?.payload.parse({ path: "" });
  return files;
}
