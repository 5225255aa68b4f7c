/**
 * Shows what the types of a client cost: the time in which the compiler checks a protocol of 300 operations behind a gateway, without a
 * client, and with a client that calls each of them, in turns. `bun scripts/client-types-cost.ts [turns]`
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const turns = Number(process.argv[2] ?? 5);
const names = Array.from({ length: 300 }, (_, n) => `operation${n}`);
const pattern = (n: number): "stream" | "ask" => (n % 10 === 0 ? "stream" : "ask");

const SERVICE = `import { createSystem, defineProtocol, type RefTo, Type } from "envoi";
import { createGateway } from "envoi/http";
const Payload = Type.Object({ id: Type.String(), count: Type.Number(), tags: Type.Array(Type.String()) });
const Large = defineProtocol("large", {
  ${names.map((name, n) => `${name}: { payload: Payload, ${pattern(n) === "stream" ? "stream" : "reply"}: Payload }`).join(",\n  ")}
});
declare const ref: RefTo<typeof Large>;
export const gateway = createGateway(createSystem(), { expose: { large: { ref, operations: ${JSON.stringify(names)} } } });
`;
const CLIENT = `import { createClient } from "envoi/http/client";
import type { gateway } from "./service";
const client = createClient<typeof gateway>({ url: "/api" });
const payload = { id: "a", count: 1, tags: [] };
export const called = [
  ${names.map((name, n) => `client.large.${pattern(n)}("${name}", payload)`).join(",\n  ")}
] as const;
`;

/** The seconds that the compiler says it checked for, and the types that it made. */
async function check(folder: string, files: readonly string[]): Promise<{ seconds: number; instantiations: number }> {
  const config = join(folder, `tsconfig.${files.length}.json`);
  const compilerOptions = { types: ["bun"], typeRoots: [join(root, "node_modules/@types")] };
  await Bun.write(config, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: files }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, tsc, "-p", config, "--extendedDiagnostics"], {
    cwd: root,
  });
  const text = stdout.toString();
  if (exitCode !== 0) throw new Error(`The compiler refused the program:\n${text}`);
  const figure = (name: string): number => Number(new RegExp(`^${name}: +([\\d.]+)`, "m").exec(text)?.[1]);
  return { seconds: figure("Check time"), instantiations: figure("Instantiations") };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const folder = await mkdtemp(join(tmpdir(), "envoi-client-types-"));
try {
  await Bun.write(join(folder, "service.ts"), SERVICE);
  await Bun.write(join(folder, "client.ts"), CLIENT);
  const seconds = { without: [] as number[], with: [] as number[] };
  for (let turn = 0; turn < turns; turn++) {
    const without = await check(folder, ["service.ts"]);
    const both = await check(folder, ["service.ts", "client.ts"]);
    seconds.without.push(without.seconds);
    seconds.with.push(both.seconds);
    console.log(
      `without: ${without.seconds.toFixed(2)} s, ${without.instantiations} instantiations; with: ${both.seconds.toFixed(2)} s, ${both.instantiations}`,
    );
  }
  const differences = seconds.with.map((each, turn) => each - (seconds.without[turn] ?? Number.NaN));
  console.log(
    `A client of 300 operations takes ${median(differences).toFixed(2)} s more to check (median of ${turns}), ${Math.min(...differences).toFixed(2)} at least; ` +
      `all of it, with the source of envoi, ${median(seconds.with).toFixed(2)} s, ${Math.min(...seconds.with).toFixed(2)} at least.`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
