/** Builds `dist`: JavaScript by tsup, declarations by tsc. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { $, Glob } from "bun";

const root = join(import.meta.dir, "..");
const types = join(root, "dist/types");

await rm(join(root, "dist"), { recursive: true, force: true });
const steps = [
  $`${process.execPath} --bun tsup --silent`.cwd(root).nothrow(),
  $`${process.execPath} --bun tsc -p tsconfig.build.json`.cwd(root).nothrow(),
];
for (const { exitCode } of await Promise.all(steps)) if (exitCode !== 0) process.exit(exitCode);

await Bun.write(join(root, "dist/typebox.license.txt"), Bun.file(join(root, "node_modules/typebox/license")));

// The sources leave the extension out of relative imports; Node's way to resolve declarations asks for it.
const RELATIVE = /((?:from|import)\s*\(?\s*")(\.{1,2}\/[^"]*|\.{1,2})(")/g;
for await (const path of new Glob("**/*.d.ts").scan({ cwd: types, absolute: true })) {
  const text = await Bun.file(path).text();
  const complete = text.replace(RELATIVE, (whole, before: string, specifier: string, after: string) => {
    const ending = [".js", "/index.js"].find((end) =>
      existsSync(join(dirname(path), specifier + end.replace(/js$/, "d.ts"))),
    );
    return ending === undefined ? whole : before + specifier + ending + after;
  });
  await Bun.write(path, complete);
}
