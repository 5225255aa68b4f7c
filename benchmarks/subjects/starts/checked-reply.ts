import { createSystem, defineProtocol, Type } from "envoi";

const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });
const echo = createSystem({ validate: "always" }).spawn("echo", Echo, () => ({ say: (payload) => payload }));
const reply = await echo.ask("say", 42);
process.exit(reply.unwrapOr(1));
