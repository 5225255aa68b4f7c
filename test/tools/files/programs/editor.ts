// Edits one file ten times, and tells how often that went well: <root> <path> <name>.
import { createSystem } from "../../../../src/index";
import { resultOf, spawnFileSystem } from "../../../../src/tools/index";

const [root = "", path = "", name = ""] = process.argv.slice(2);
await using system = createSystem();
const files = spawnFileSystem(system, { root });
let made = 0;
for (let i = 0; i < 10; i++) {
  const answer = await files.ask("edit", { path, edits: [{ oldText: "end\n", newText: `${name}, edit ${i}\nend\n` }] });
  const result = resultOf(answer);
  if (result.isOk()) made++;
  else console.error(result.error.message);
}
console.log(`${made} made`);
