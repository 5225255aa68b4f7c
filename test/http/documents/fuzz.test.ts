import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLong } from "../../property/runs";
import { notesService } from "./service";

const TOOL = "schemathesis==4.32.5";
/** A query may have names that nobody knows: they are passed over. */
const CONFIG = 'hooks = "hooks.py"\n[generation]\nallow-extra-parameters = false\n';
/** The description of each body says so, and no schema can. */
const HOOKS = `import schemathesis

def pollutes(value):
    if isinstance(value, dict):
        return "__proto__" in value or any(pollutes(each) for each in value.values())
    return isinstance(value, list) and any(pollutes(each) for each in value)

@schemathesis.hook
def filter_body(context, body):
    return not pollutes(body)
`;
const TOKEN = "fuzz-token";

const python = Bun.which("python3") ?? "";
const folder = isLong ? mkdtempSync(join(tmpdir(), "envoi-fuzz-")) : "";

async function run(...command: string[]): Promise<{ readonly code: number; readonly output: string }> {
  const env = { ...process.env, PYTHONPATH: folder, HYPOTHESIS_STORAGE_DIRECTORY: join(folder, "hypothesis") };
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe", env, cwd: folder });
  const [out, failures, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: out + failures };
}

const hasPip = isLong && python !== "" && (await run(python, "-m", "pip", "--version")).code === 0;
if (isLong && !hasPip) {
  console.log(`Skipped without pip: pip install ${TOOL}; schemathesis run http://localhost:3000/openapi.json`);
}

describe.skipIf(!hasPip)("P18: a fuzzer of APIs finds nothing that is not as the document says, and no 5xx", () => {
  beforeAll(async () => {
    const { code, output } = await run(python, "-m", "pip", "install", "--quiet", "--target", folder, TOOL);
    if (code !== 0) throw new Error(output);
    await Bun.write(join(folder, "schemathesis.toml"), CONFIG);
    await Bun.write(join(folder, "hooks.py"), HOOKS);
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each<[string, Parameters<typeof notesService>[0], string[]]>([
    ["in a service that is open", {}, []],
    [
      "in a service that asks who calls", // Its Allow does not tell which operations there are.
      {
        authenticate: ({ headers }) =>
          headers.get("authorization") === `Bearer ${TOKEN}` ? { id: "fuzz" } : undefined,
        authorize: (_caller, _actor, operation) => operation !== "drop",
      },
      ["--header", `Authorization: Bearer ${TOKEN}`, "--exclude-checks", "allow_header_conformance"],
    ],
  ])(
    "%s",
    async (_, options, args) => {
      const { gateway, system } = notesService({ metrics: true, ...options });
      const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: gateway.fetch });
      const program = join(folder, "bin", "schemathesis");
      const { code, output } = await run(
        ...[python, program, "run", `${server.url}openapi.json`, "--max-examples=50", "--seed=20", "--no-color"],
        ...args,
      );
      await server.stop(true);
      await system.shutdown();
      await gateway.close();
      expect([code, code === 0 ? "" : output.slice(-20_000)]).toEqual([0, ""]);
    },
    600_000,
  );
});
