import { join } from "node:path";

/** The texts of the page's files. */
export interface PageTexts {
  readonly html: string;
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}

/**
 * Reads the page's files, and makes one script of its modules. The package has the result of this in place of this file
 * (tsup.config.ts): there is nothing to read and to make there.
 */
export async function pageTexts(): Promise<PageTexts> {
  const folder = join(import.meta.dir, "page");
  const read = (name: string): Promise<string> => Bun.file(join(folder, name)).text();
  const entrypoints = [join(folder, "main.ts"), join(folder, "style.css")];
  const { outputs } = await Bun.build({ entrypoints, target: "browser", format: "esm", minify: true });
  const made = (ending: string): Promise<string> | undefined =>
    outputs.find(({ path }) => path.endsWith(ending))?.text();
  const [html, icon, script, style] = await Promise.all([
    read("index.html"),
    read("icon.svg"),
    made(".js"),
    made(".css"),
  ]);
  if (script === undefined || style === undefined) throw new Error("The page of the inspector could not be built.");
  return { html, script, style, icon };
}
