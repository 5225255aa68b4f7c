/** `bun run stress`: see `--help`. */
import { join } from "node:path";
import { stressTargets } from "../targets";
import { main } from "./command";
import { measureStress } from "./stress";

const { stderr, stdout, argv } = process;
const aborted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (aborted.signal.aborted) process.exit(130);
    aborted.abort();
  });
}

process.exitCode = await main(argv.slice(2), {
  measure: measureStress,
  targets: stressTargets,
  root: join(import.meta.dir, "../.."),
  out: (text) => stdout.write(text),
  err: (text) => stderr.write(text),
  progress: (text) => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${text.slice(0, (stderr.columns ?? 80) - 1)}`);
    else if (text !== "") stderr.write(`${text}\n`);
  },
  signal: aborted.signal,
});
