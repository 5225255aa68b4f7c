import { createRandom } from "envoi/testing";
import { spawnCodeExecution } from "envoi/tools";
import { descendants } from "../../harness/processes";
import { type FaultPlan, type MakeTrouble, subjectOf, TIMEOUT } from "./trouble";

/** Milliseconds between two kills. */
const PAUSE = 200;

/**
 * Goes on for some milliseconds, so that a kill finds a run at work now and then. One that was not heard of runs elsewhere; one
 * that was, since it logged something, is lost.
 */
const CODE = `if (input % 2 === 1) console.log(input);
let sum = input;
for (let i = 0; i < 40_000; i++) sum += i % 3;
sum`;
const SUM = 39_999;

export const fault: FaultPlan = {
  name: "processes killed",
  about:
    "Every 200 ms one of the processes that run code, by chance, is killed (SIGKILL). A run that it had said nothing of runs elsewhere; one that had logged something is lost, which its asker is told.",
  rate: 100,
  mix: { code: 1, ask: 1 },
  allowed: { code: ["crashed", "unavailable", "timeout"] },
  module: import.meta.url,
};

const make: MakeTrouble = async ({ system }) => {
  const code = spawnCodeExecution(system, { concurrency: 2 });
  const random = createRandom(1);
  let killed = 0;
  let lost = 0;
  let timer: Timer | undefined;
  const execute = async (number: number) => {
    const answer = await code.ask("execute", { code: CODE, input: number }, { timeout: TIMEOUT });
    if (answer.isErr()) return answer.error.kind;
    if (answer.value.ok) return answer.value.value.value === number + SUM ? number : "wrong";
    lost++;
    return answer.value.error.kind;
  };
  const kill = () => {
    const pool = descendants(process.pid);
    if (pool.length === 0) return; // The next ones are being started.
    process.kill(random.pick(pool), "SIGKILL");
    killed++;
  };
  await execute(0);
  return {
    operations: { code: execute },
    begin() {
      timer = setInterval(kill, PAUSE);
    },
    end: () => clearInterval(timer),
    happened: () => ({ "processes killed": killed, "runs lost": lost }),
    complaints: () => (lost > killed * 2 + 10 ? [`${killed} kills cost ${lost} runs.`] : []),
  };
};

export const open = subjectOf(make);
