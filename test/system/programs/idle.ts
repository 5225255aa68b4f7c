// Actors that wait, handlers that never settle, and dead letters are no reason to stay.
import { address, createMessage, createSystem, defineProtocol } from "../../../src/index";
import { failUnlessExited } from "./exits-late";

failUnlessExited(800); // Under the second for which the log of dead letters has a timer.
const Wait = defineProtocol("wait", { wait: {}, work: {} });
const system = createSystem({ logger: { warn() {}, error() {} } });
const waiting = system.spawn("waiting", Wait, () => ({ wait: () => new Promise<void>(() => {}), work() {} }));
system.router.register(address("echo"), (message) => message.payload);
system.router.tell(createMessage(address("nobody"), "say", 1));
waiting.tell("work");
waiting.tell("wait");
void waiting.ask("work", { timeout: Number.POSITIVE_INFINITY });
