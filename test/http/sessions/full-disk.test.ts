import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bodyOf, eventsOf, type Shown } from "./chat";

const folder = mkdtempSync(join(tmpdir(), "envoi-full-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Kilobytes of the largest file that the service may write. */
const LIMIT = 1_024;
const ITEMS = 500;

// A limit on the size of files stands for a disk that is full: `prlimit` of Linux lifts it while the service runs.
test.skipIf(Bun.which("prlimit") === null)(
  "on a full disk, messages are refused with 503, streams wait for room and lose nothing, and the rest goes on",
  async () => {
    const program = [process.execPath, join(import.meta.dir, "serve-sessions.ts"), join(folder, "sessions.sqlite")];
    const script = `trap '' XFSZ; ulimit -S -f ${LIMIT}; exec "$@"`;
    const child = Bun.spawn(["bash", "-c", script, "bash", ...program], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    const { value } = await child.stdout.getReader().read();
    const url = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`;
    const headers = { "content-type": "application/json" };
    const post = (path: string, body: object): Promise<Response> =>
      fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });

    const session = (await post("/sessions", {})).headers.get("location") ?? "";
    const stream = await post(`${session}/messages`, { operation: "fill", payload: ITEMS });
    const items = Array.fromAsync(eventsOf(stream));
    let refused: Response;
    do refused = await post("/sessions", { metadata: { text: "x".repeat(4_000) } });
    while (refused.status === 201);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).not.toBeNull();
    expect(await refused.json()).toMatchObject({ kind: "unavailable", retryable: true });
    const shown = await bodyOf<Shown>(await fetch(url + session));
    expect(shown).toMatchObject({ running: 1 });
    expect(shown.lastEvent).toBeLessThan(ITEMS);

    Bun.spawnSync(["prlimit", `--pid=${child.pid}`, "--fsize=unlimited"]);
    const all = await items;
    expect(all.slice(0, -1).map(({ data = "" }) => Number.parseInt(JSON.parse(data), 10))).toEqual(
      Array.from({ length: ITEMS }, (_, n) => n),
    );
    expect(all.at(-1)?.event).toBe("end");
    expect((await post("/sessions", {})).status).toBe(201);
    child.kill();
    await child.exited;
  },
  30_000,
);
