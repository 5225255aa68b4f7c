import { expect, test } from "bun:test";
import { join } from "node:path";
import { runScript } from "../../package/page";

const root = join(import.meta.dir, "../../..");

test("the compiler accepts the page of the inspector, which is checked against a browser's types", async () => {
  const project = join(root, "src/http/inspector/page");
  const { exitCode, stdout } = await runScript(root, join(root, "node_modules/typescript/bin/tsc"), "-p", project);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
}, 60_000);
