import { join } from "node:path";
import { Glob } from "bun";

/** The parts of the package that have a budget of their own, by the entries that lead to their code. The pages beside them have one, too, and `rest` is all else. */
const WINGS = {
  http: ["http", "http-client", "http-internals"],
  rpc: ["rpc"],
  acp: ["acp"],
  mcp: ["mcp"],
  nats: ["nats"],
  record: ["record"],
  telemetry: ["telemetry"],
  workers: ["workers"],
  cli: ["cli"],
} as const;

export type Part = keyof typeof WINGS | "pages" | "rest";

/**
 * The bytes of each part of an installed package. A file of code belongs to the first part whose entries load it, so what wings share with the
 * core is the core's, and what `acp` has of `rpc` is `rpc`'s; declarations and benchmarks belong to the part whose name their folder or
 * file has.
 */
export async function bytesOfParts(installed: string): Promise<Readonly<Record<Part, number>>> {
  const files = [...new Glob("**/*").scanSync({ cwd: installed, dot: true })];
  const dist = new Map<string, string>();
  for (const file of files) {
    const [, name] = /^dist\/([\w-]+\.js)$/.exec(file) ?? [];
    if (name !== undefined) dist.set(name, await Bun.file(join(installed, file)).text());
  }
  const owners = new Map<string, Part>();
  const give = (name: string, part: Part): void => {
    const code = dist.get(name);
    if (code === undefined || owners.has(name)) return;
    owners.set(name, part);
    for (const [, loaded = ""] of code.matchAll(/["']\.\/([\w-]+\.js)["']/g)) give(loaded, part);
  };
  const isOfWing = (name: string): boolean =>
    Object.values<readonly string[]>(WINGS).some((entries) => entries.includes(name.replace(/\.js$/, "")));
  const own = [...dist.keys()].filter((name) => !isOfWing(name) && !/^(?:chunk|socket-calls)-/.test(name));
  for (const name of own) give(name, "rest");
  for (const [wing, entries] of Object.entries(WINGS)) {
    for (const entry of entries) give(`${entry}.js`, wing as Part); // A key of WINGS.
  }
  const bytes = {
    rest: 0,
    pages: 0,
    http: 0,
    rpc: 0,
    acp: 0,
    mcp: 0,
    nats: 0,
    record: 0,
    telemetry: 0,
    workers: 0,
    cli: 0,
  };
  for (const file of files) {
    const [, code = "", folder = ""] =
      /^(?:dist\/([\w-]+\.js)$|(?:dist\/types|bench\/(?:harness|suites|subjects))\/(\w+))/.exec(file) ?? [];
    const other = /^[A-Z]+(?:\.md)?$/.test(file) ? "pages" : "rest";
    const wing = folder === "link" ? "nats" : folder; // The code of the link is that of the first wing which loads it.
    const part = owners.get(code) ?? (Object.hasOwn(WINGS, wing) ? (wing as Part) : other); // A key of WINGS.
    bytes[part] += Bun.file(join(installed, file)).size;
  }
  return bytes;
}

/** The classes of a file of the package, each by its name and the beginning of its code, in which two of one name differ. */
export function classesIn(code: string): readonly (readonly [name: string, code: string])[] {
  const whole = code.replaceAll(/\\?\n/g, "");
  return [...whole.matchAll(/(?:(?:\bvar |[,;])(\w+)=class|(?:^|[;}])class (\w+))\b/g)].map(
    ({ index, 0: { length }, 1: bound, 2: named = "" }) => [
      bound ?? named,
      whole.slice(index + length, index + length + 400),
    ],
  );
}
