import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { inOrder } from "./page";
import type { Suite } from "./suite";

const ENDING = ".bench.ts";

/** Loads the suites of a folder, each from its `NAME.bench.ts`, which exports it as `suite`. */
export async function loadSuites(folder: string): Promise<Suite[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(ENDING));
  const suites = await Promise.all(
    files.map(async (file) => {
      const { suite }: { suite?: Suite } = await import(join(folder, file));
      if (suite === undefined) throw new Error(`${file} exports no \`suite\`.`);
      expectNames(file, suite);
      return suite;
    }),
  );
  return inOrder(suites, ({ name }) => name);
}

function expectNames(file: string, suite: Suite): void {
  if (`${suite.name}${ENDING}` !== file)
    throw new Error(`${file} holds the suite "${suite.name}"; name one after the other.`);
  const seen = new Set<string>();
  for (const { name } of suite.rows) {
    if (seen.has(name)) throw new Error(`${file} has two rows named "${name}".`);
    seen.add(name);
  }
}
