import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Suite } from "./suite";
import { inOrder } from "./tables";

const ENDING = ".bench.ts";

/** Loads the suites of a folder, each from its `NAME.bench.ts`, which exports it as `suite`. */
export async function loadSuites(folder: string): Promise<Suite[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ENDING));
  const suites = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const { suite }: { suite?: Suite } = await import(file);
      if (suite === undefined) throw new Error(`${name} exports no \`suite\`.`);
      expectNames(name, suite);
      return { ...suite, file };
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
