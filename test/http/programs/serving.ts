// A service that a signal ends in the middle of requests. It says when all of them have come, and when each part has ended.
import { serve } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";

const Work = defineProtocol("work", { work: { payload: Type.Number(), reply: Type.Number() } });
const system = createSystem();
let come = 0;
const ref = system.spawn(
  "worker",
  Work,
  () => ({
    async work(n) {
      await Bun.sleep(100);
      return n;
    },
    onStop: () => console.log("actors stopped"),
  }),
  { concurrency: 8 },
);
const part = () => ({
  routes: [],
  drain: async () => console.log("drained"),
  close: () => console.log("parts closed"),
});
const { url } = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  expose: { worker: { ref, operations: ["work"] } },
  parts: [part],
  authorize() {
    if (++come === 16) console.log("busy");
    return true;
  },
});
console.log(url.port);
