/** Runs what ends by a kill only, and tells of its processes once it is under way. */
import { children, sandbox } from "../kit";

const { run, tier } = sandbox({ size: 2 });
void run("Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", { timeout: 1e9 });
const timer = setInterval(() => {
  const { running, idle } = tier.inspect();
  if (running !== 1 || idle !== 1) return;
  clearInterval(timer);
  console.log(JSON.stringify(children()));
}, 5);
