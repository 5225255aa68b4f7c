import { describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { children, until } from "./kit";

const program = (name: string): string => join(import.meta.dir, "programs", `${name}.ts`);
const isLinux = process.platform === "linux" && process.arch === "x64";

describe("Sandbox: its processes", () => {
  test.if(isLinux)("reach no file, network or process, were the interpreter broken", () => {
    const { stdout } = Bun.spawnSync([process.execPath, program("confined")]);
    const { held, done, works } = JSON.parse(stdout.toString());
    expect(held).toEqual(["no-capabilities", "dies-with-parent", "limits", "no-new-privileges", "landlock", "seccomp"]);
    expect(done).toEqual([]);
    expect(works).toBe(1e6);
  });

  test.if(isLinux)("hold as well where the host itself may open less than they", () => {
    const host = ["sh", "-c", 'ulimit -n 32; exec "$0" "$1"', process.execPath, program("confined")];
    const { held, done } = JSON.parse(Bun.spawnSync(host).stdout.toString());
    expect(held).toContain("limits");
    expect(done).toEqual([]);
  });

  test("keep nothing alive while they are idle, and end with their host", async () => {
    const host = Bun.spawn([process.execPath, program("idle")], { stdout: "pipe" });
    const { ended } = JSON.parse(await host.stdout.text());
    expect(ended).toMatchObject({ kind: "value", value: "42" });
    expect(await host.exited).toBe(0);
    expect(children(host.pid)).toEqual([]);
  });

  test.if(isLinux)("end when their host is killed, in the midst of a run too", async () => {
    const host = Bun.spawn([process.execPath, program("busy")], { stdout: "pipe" });
    const reader = host.stdout.getReader();
    const { value = new Uint8Array() } = await reader.read();
    const pids = JSON.parse(Buffer.from(value).toString()) as number[];
    expect(pids).toHaveLength(2);
    host.kill("SIGKILL");
    await host.exited;
    await until(() => pids.every((pid) => !isThere(pid)));
  });

  test("are told to be unavailable where the interpreter is not installed, with what to install", async () => {
    const folder = mkdtempSync(join(tmpdir(), "envoi-sandbox-"));
    try {
      const tools = join(import.meta.dir, "../../../../src/tools");
      for (const name of ["code", "c-library.ts", "late.ts"])
        cpSync(join(tools, name), join(folder, name), { recursive: true });
      await Bun.write(
        join(folder, "main.ts"),
        `import { createSandbox } from "./code/sandbox/create-sandbox";
        const clock = { monotonicTime: () => 0, setTimer: (f, ms) => { const t = setTimeout(f, ms); return { cancel: () => clearTimeout(t), unref: () => t.unref() } } };
        const tier = createSandbox({ size: 2, maxWaiting: 5, clock });
        const run = () => tier.run({ program: { body: "", place() {} }, timeout: 1000, memory: 2e7, maxOutput: 1e5, signal: new AbortController().signal });
        console.log(JSON.stringify([...(await Promise.all([run(), run()])), await run()]));
        await tier.dispose();`,
      );
      const host = Bun.spawn([process.execPath, "--no-install", join(folder, "main.ts")], { stdout: "pipe" });
      const all = JSON.parse(await host.stdout.text()) as { kind: string; message: string }[];
      expect(all.map(({ kind }) => kind)).toEqual(["unavailable", "unavailable", "unavailable"]);
      for (const { message } of all) expect(message).toContain("bun add @jitl/quickjs-wasmfile-release-sync@");
      expect(await host.exited).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
