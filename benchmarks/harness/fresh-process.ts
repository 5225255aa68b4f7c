import type { Charted, Readings } from "./suite";

/**
 * Calls an exported function in a process of its own and returns what it read: what other rows left on the heap, or made the
 * compiler believe, has no part in it. The function takes one number and gives `Readings`, or `Charted`.
 */
export async function inFreshProcess<Read extends Readings | Charted = Readings>(
  module: URL,
  name: string,
  argument: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Read> {
  const command = [process.execPath, import.meta.path, module.href, name, String(argument)];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe", env: { ...process.env, ...environment } });
  const [text, complaint, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(`${name} failed in its own process (status ${status}): ${complaint.trim()}`);
  return JSON.parse(text) as Read; // Printed below, and what it is the exported function says.
}

if (import.meta.main) {
  // To leave by the door: what is to go with the process, such as its folders, goes.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
  const [module = "", name = "", argument = ""] = process.argv.slice(2);
  const exported: Record<string, (argument: number) => unknown> = await import(module);
  const subject = exported[name];
  if (subject === undefined) throw new Error(`${module} exports no function ${name}`);
  const readings = await subject(Number(argument));
  process.stdout.write(JSON.stringify(readings), () => process.exit(0)); // Subjects may leave actors and timers behind.
}
