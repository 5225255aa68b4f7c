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
  return system.shutdownOnSignals({ timeout: 10_000 });
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
