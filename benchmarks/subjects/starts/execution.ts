import { createSystem } from "envoi";
import { runCode, spawnCodeExecution } from "envoi/tools";

const code = spawnCodeExecution(createSystem());
const ran = await runCode(code, { code: "6 * 7" });
process.exit(ran.isOk() ? Number(ran.value.value) : 1);
