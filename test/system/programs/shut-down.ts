// Two systems shut down, one without actors.
import { createSystem, defineProtocol } from "../../../src/index";
import { failUnlessExited } from "./exits-late";

failUnlessExited(4_000); // Under the default timeout of shutdown.
const Work = defineProtocol("work", { work: {} });
const busy = createSystem();
busy.spawn("worker", Work, () => ({ work: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) })).tell("work");
console.log(`${(await busy.shutdown({ drain: true })).unfinished.length} unfinished`);
console.log(`${(await createSystem().shutdown()).unfinished.length} unfinished`);
