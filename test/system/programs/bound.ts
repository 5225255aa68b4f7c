// Systems that shut down on a signal; what they are to do is told by the arguments.
import { createSystem, defineProtocol } from "../../../src/index";

const Work = defineProtocol("work", { work: {} });
const [mode] = process.argv.slice(2);
const delays = mode === "two" ? [30, 150] : [30];
const unbinds = delays.map((delay, i) => {
  const system = createSystem({ name: `system ${i}` });
  const ref = system.spawn("worker", Work, () => ({
    work() {},
    async onStop() {
      console.log(`${i} stopping`);
      if (mode === "stuck") await new Promise(() => {});
      await new Promise((resolve) => setTimeout(resolve, delay));
      console.log(`${i} stopped`);
    },
  }));
  ref.tell("work");
  const hook =
    (name: string) =>
    async (...given: unknown[]) => {
      await Bun.sleep(1);
      console.log(name, given.at(-1));
      if (name === "onSignal") throw new Error("an onSignal that fails");
    };
  const hooks = { onSignal: hook("onSignal"), onShutdown: hook("onShutdown") };
  return system.shutdownOnSignals({ timeout: 10_000, ...(mode === "hooks" && hooks) });
});
if (mode === "unbound") for (const unbind of unbinds) unbind();
if (mode === "idle") console.log("idle");
else {
  setTimeout(() => process.exit(99), 15_000);
  setTimeout(() => {
    console.log("ready");
    if (mode === "first") process.kill(process.pid, "SIGTERM");
  }, 1);
}
