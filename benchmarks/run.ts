import { join } from "node:path";
import { main } from "./harness/cli";
import { loadSuites } from "./harness/load";
import { targets } from "./targets";

const { stderr, stdout, argv } = process;

process.exitCode = await main(argv.slice(2), {
  suites: () => loadSuites(join(import.meta.dir, "suites")),
  targets,
  root: join(import.meta.dir, ".."),
  out: (text) => stdout.write(text),
  err: (text) => stderr.write(text),
  progress: (text) => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${text.slice(0, (stderr.columns ?? 80) - 1)}`);
  },
});
