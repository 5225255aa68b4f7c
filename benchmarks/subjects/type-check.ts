import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { disk, sharedFolder } from "../harness/places";
import type { Readings } from "../harness/suite";
import { folderOf, installation } from "./installation";

const COMPILER = "typescript";
const TYPES = "@types/bun";

/** What is not installed of what a project is checked by. */
export const missingCompiler = (): string[] => [COMPILER, TYPES].filter((name) => folderOf(name) === undefined);

/** How a project says what its services are: by protocols, or by interfaces that are written out. */
type Kind = "envoi" | "bare";

const COMPILER_OPTIONS = {
  target: "ESNext",
  lib: ["ESNext"],
  types: ["bun"],
  module: "Preserve",
  moduleResolution: "Bundler",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
};

const protocol = (
  index: number,
): string => `import { defineProtocol, type Handlers, type RefTo, type SignaturesOf, Type } from "envoi";
export const Service = defineProtocol("service-${index}", {
  add: { payload: Type.Object({ amount: Type.Number(), note: Type.Optional(Type.String()) }) },
  total: { reply: Type.Number() },
  find${index}: {
    payload: Type.Object({ text: Type.String(), most: Type.Optional(Type.Integer()) }),
    reply: Type.Array(Type.Object({ id: Type.String(), kind: Type.Union([Type.Literal("a"), Type.Literal("b")]) })),
  },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
export const handlers = (): Handlers<SignaturesOf<typeof Service>> => ({
  add: ({ amount, note }) => void [amount, note],
  total: () => ${index},
  find${index}: ({ text, most }) => [{ id: text, kind: most === undefined ? "a" : "b" }],
  *ticks(count) {
    for (let i = 0; i < count; i++) yield i;
  },
});
export async function use(service: RefTo<typeof Service>): Promise<number> {
  service.tell("add", { amount: ${index} });
  const found = await service.ask("find${index}", { text: "tea" });
  let sum = found.isOk() ? found.value.length : 0;
  for await (const tick of service.stream("ticks", 3)) sum += tick;
  return sum;
}
`;

const interfaces = (index: number): string => `export interface Service {
  add(payload: { amount: number; note?: string }): void;
  total(): Promise<number>;
  find${index}(payload: { text: string; most?: number }): Promise<{ id: string; kind: "a" | "b" }[]>;
  ticks(payload: number): AsyncIterable<number>;
}
export const handlers = (): Service => ({
  add: ({ amount, note }) => void [amount, note],
  total: async () => ${index},
  find${index}: async ({ text, most }) => [{ id: text, kind: most === undefined ? "a" : "b" }],
  async *ticks(count) {
    for (let i = 0; i < count; i++) yield i;
  },
});
export async function use(service: Service): Promise<number> {
  service.add({ amount: ${index} });
  const found = await service.find${index}({ text: "tea" });
  let sum = found.length;
  for await (const tick of service.ticks(3)) sum += tick;
  return sum;
}
`;

/** In a file of its own, the only thing that is wrong: that it is found shows that all was looked at. */
const WRONG: Readonly<Record<Kind, string>> = {
  envoi: 'export const wrong = (service: RefTo<typeof Service>) => service.tell("add", { amount: "1" });\n',
  bare: 'export const wrong = (service: Service) => service.add({ amount: "1" });\n',
};
const WITH_SERVICE: Readonly<Record<Kind, string>> = {
  envoi: 'import type { RefTo } from "envoi";\nimport type { Service } from "./service-LAST";\n',
  bare: 'import type { Service } from "./service-LAST";\n',
};

/**
 * Has the compiler look at a project of so many services, once with protocols and once with interfaces that say the same; what
 * a protocol takes is the difference, by their number, in milliseconds.
 */
export async function typeCheck(services: number): Promise<Readings> {
  const time = await check("envoi", services);
  const without = await check("bare", services);
  return { time, "without envoi": without, "a protocol": ((time - without) * 1_000) / services };
}

/** Seconds that the compiler takes. */
async function check(kind: Kind, services: number): Promise<number> {
  const folder = await project(kind, services);
  const compiler = join(folderOf(COMPILER) ?? COMPILER, "bin/tsc");
  const began = performance.now();
  // Not waited for in the thread, which is to hear that the run is to end.
  const child = Bun.spawn([process.execPath, compiler, "-p", folder, "--pretty", "false"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [text] = await Promise.all([child.stdout.text(), child.exited]);
  const time = (performance.now() - began) / 1_000;
  const told = text.trim();
  if (!/^wrong\.ts\(\d+,\d+\): error TS2322[^\n]*(\n {2}[^\n]*)*$/.test(told)) {
    throw new Error(`The compiler was to find one wrong type, and said: ${told.slice(0, 1_000)}`);
  }
  return time;
}

async function project(kind: Kind, services: number): Promise<string> {
  const envoi = join(await installation(), "node_modules/envoi");
  return sharedFolder(disk, `${services} services, ${kind}`, (folder) => {
    const modules = join(folder, "node_modules");
    mkdirSync(dirname(join(modules, TYPES)), { recursive: true });
    symlinkSync(envoi, join(modules, "envoi"));
    symlinkSync(folderOf(TYPES) ?? TYPES, join(modules, TYPES));
    const text = kind === "envoi" ? protocol : interfaces;
    const names = Array.from({ length: services }, (_, index) => `service-${index}`);
    names.forEach((name, index) => {
      writeFileSync(join(folder, `${name}.ts`), text(index));
    });
    const main = names.map((name, i) => `import { handlers as handlers${i}, use as use${i} } from "./${name}";\n`);
    const all = names.map((_, i) => `[handlers${i}, use${i}]`);
    writeFileSync(join(folder, "main.ts"), `${main.join("")}export const all = [${all.join(", ")}] as const;\n`);
    const head = WITH_SERVICE[kind].replace("LAST", String(services - 1));
    writeFileSync(join(folder, "wrong.ts"), head + WRONG[kind]);
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["*.ts"] }),
    );
  });
}
