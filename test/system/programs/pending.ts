// One ask that nobody answers is all that keeps it alive, until its timeout.
import { createSystem, defineProtocol } from "../../../src/index";
import { failUnlessExited } from "./exits-late";

failUnlessExited(4_000);
const Wait = defineProtocol("wait", { wait: {} });
const waiting = createSystem().spawn("waiting", Wait, () => ({ wait: () => new Promise<void>(() => {}) }));
void waiting.ask("wait", { timeout: 50 }).then((answer) => {
  console.log(answer.isOk() ? "ok" : answer.error.kind);
});
