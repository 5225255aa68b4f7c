// Spawns a file actor, and says whether what its first request is checked by is compiled.
import { createSystem } from "../../../../src";
import { FileSystem, spawnFileSystem } from "../../../../src/tools";

spawnFileSystem(createSystem(), { root: import.meta.dir });
console.log(`compiled: ${FileSystem.operations["read"]?.payload.isCompiled}`);
process.exit();
