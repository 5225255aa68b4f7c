/** Runs once, and leaves its sandbox as it is: nothing but the sandbox could keep it alive. */
import { sandbox } from "../kit";

const { tier, run } = sandbox({ size: 2 });
const ended = await run("return 6 * 7");
console.log(JSON.stringify({ ended, inspected: tier.inspect() }));
