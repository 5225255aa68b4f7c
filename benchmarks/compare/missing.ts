import { join } from "node:path";
import { Glob, Transpiler } from "bun";

/** What is read of a package.json. */
export interface Manifest {
  readonly exports?: Readonly<Record<string, Entry>>;
  readonly imports?: Readonly<Record<string, Entry>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

type Entry = string | Readonly<Record<string, string>>;

/** Names that are imported, by the specifier that they are imported from. */
export type Imported = ReadonlyMap<string, ReadonlySet<string>>;

const STATIC = /^import\s+\{([^}]*)\}\s+from\s+"([^"]+)"/gm;

/** What the benchmarks of a folder import from other packages and from envoi, types left out. */
export async function importedBy(benchmarks: string): Promise<Imported> {
  const transpiler = new Transpiler({ loader: "ts" });
  const imported = new Map<string, Set<string>>();
  const namesOf = (specifier: string): Set<string> => {
    const names = imported.get(specifier) ?? new Set();
    imported.set(specifier, names);
    return names;
  };
  for await (const path of new Glob("**/*.ts").scan(benchmarks)) {
    // The transpiler takes no line that names the interpreter.
    const text = (await Bun.file(join(benchmarks, path)).text()).replace(/^#!.*/, "");
    for (const each of transpiler.scanImports(text)) if (isPackage(each.path)) namesOf(each.path);
    for (const [, list = "", specifier = ""] of text.matchAll(STATIC)) {
      if (!imported.has(specifier)) continue;
      const values = list
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && !name.startsWith("type "));
      for (const name of values) namesOf(specifier).add(name.split(/\s+as\s+/)[0] ?? name);
    }
  }
  return imported;
}

const isPackage = (specifier: string): boolean => !/^(?:\.|\/|node:|bun(?::|$))/.test(specifier);

const isOurs = (specifier: string): boolean => specifier.startsWith("#") || /^envoi(?:\/|$)/.test(specifier);

/** The packages among those specifiers that the build itself does not bring: the tools of the benchmarks. */
export function toolsOf(imported: Imported, { dependencies, peerDependencies }: Manifest): string[] {
  const packages = [...imported.keys()].filter((specifier) => !isOurs(specifier)).map(packageOf);
  const brought = { ...dependencies, ...peerDependencies };
  return [...new Set(packages)].filter((name) => !(name in brought));
}

const packageOf = (specifier: string): string => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

const keyOf = (specifier: string): string =>
  specifier.startsWith("#") ? specifier : `.${specifier.slice("envoi".length)}`;

/**
 * Writes the package.json of a build that is laid out in a folder. What the benchmarks import and the build does not export gets a
 * stand-in that throws once it is used, so that the rows which need it fail, and no others: an import of a name that is not there
 * would keep the whole suite from loading.
 *
 * @returns what is missing: `envoi/tools has no spawnProgram`.
 */
export async function writeManifest(folder: string, manifest: Manifest, imported: Imported): Promise<string[]> {
  const missing: string[] = [];
  const exports: Record<string, Entry> = { ...manifest.exports };
  const imports: Record<string, Entry> = { ...manifest.imports };
  for (const [specifier, names] of imported) {
    if (!isOurs(specifier)) continue;
    const key = keyOf(specifier);
    const entries = specifier.startsWith("#") ? imports : exports;
    const entry = fileOf(entries[key]);
    const has = entry === undefined ? [] : exportsOf(await Bun.file(join(folder, entry)).text());
    const absent = [...names].filter((name) => !has.includes(name)).sort();
    if (absent.length === 0 && entry !== undefined) continue;
    // In `dist`, which rows copy that look at the package as it is installed.
    const file = `./dist/stand-ins/${specifier.replaceAll(/[#/]/g, "-")}.js`;
    await Bun.write(join(folder, file), standIns(specifier, entry, absent));
    entries[key] = file;
    missing.push(...absent.map((name) => `${specifier} has no ${name}`));
  }
  const needs = { dependencies: manifest.dependencies ?? {}, peerDependencies: manifest.peerDependencies ?? {} };
  const written = { ...manifest, name: "envoi", type: "module", ...needs, exports, imports };
  await Bun.write(join(folder, "package.json"), JSON.stringify(written, null, 2));
  return missing;
}

const fileOf = (entry: Entry | undefined): string | undefined =>
  typeof entry === "string" ? entry : entry?.["default"];

const exportsOf = (code: string): string[] => new Transpiler({ loader: "js" }).scan(code).exports;

function standIns(specifier: string, entry: string | undefined, names: readonly string[]): string {
  return `${entry === undefined ? "" : `export * from ${JSON.stringify(`../../${entry}`)};\n`}
const standIn = (name) => {
  const fail = () => {
    throw new Error(\`${specifier} has no \${name} in this revision\`);
  };
  return new Proxy(function () {}, { apply: fail, construct: fail, get: fail });
};
${names.map((name) => `export const ${name} = standIn("${name}");`).join("\n")}
`;
}
