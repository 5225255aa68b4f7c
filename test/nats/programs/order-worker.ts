/** A worker whose actor takes orders and tells those that it placed. A poisonous one kills it. */
import { serveWorker } from "../../../src/workers/index";
import { Orders } from "../durable/nodes";

serveWorker((system, worker) => {
  const placed = worker.ref("placed", Orders);
  const orders = system.spawn("orders", Orders, () => ({
    place(order) {
      if (order.poison === true) process.kill(process.pid, "SIGKILL");
      placed.tell("place", order);
    },
    flush: () => undefined,
    watch: async function* () {},
  }));
  return { orders };
});
