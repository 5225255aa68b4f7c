import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Suite } from "./suite";
import { inOrder } from "./tables";

const ENDING = ".bench.ts";

/** Loads the suites of a folder, each from its `NAME.bench.ts`, which exports it as `suite`. */
export async function loadSuites(folder: string): Promise<Suite[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(ENDING));
  const suites = files.map(async (name): Promise<Suite> => {
    const file = join(folder, name);
    const { suite }: { readonly suite: Suite } = await import(file);
    const rows = new Set(suite.rows.map((row) => row.name));
    if (`${suite.name}${ENDING}` === name && rows.size === suite.rows.length) return { ...suite, file };
    throw new Error(`${name} must export the suite of that name, and each of its rows needs a name of its own.`);
  });
  return inOrder(await Promise.all(suites), ({ name }) => name);
}
