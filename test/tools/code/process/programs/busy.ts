/** Runs code that does not end in one process, and code that waits in another, and says which processes they are. */
import { processes } from "../kit";

const { run } = processes({ size: 2 });
const pids: number[] = [];
for (const end of ["for (;;);", "await new Promise(() => {})"]) {
  const onLog = ({ text }: { text: string }): void => {
    pids.push(Number(text));
    if (pids.length === 2) console.log(JSON.stringify(pids));
  };
  void run(`console.log((await import("node:process")).pid); ${end}`, { onLog });
}
