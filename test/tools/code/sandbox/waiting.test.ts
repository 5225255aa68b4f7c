import { afterAll, describe, expect, test } from "bun:test";
import { Worker } from "./worker";

const worker = new Worker();
afterAll(() => worker.close());

/** Milliseconds in which one that goes on looking would be seen, and how many of them may have been work: garbage is collected. */
const [WHILE, WORK] = [300, 30];

/** Milliseconds that its main thread worked, of `WHILE`. */
async function worked(): Promise<number> {
  await Bun.sleep(20); // What the order itself left to do.
  const before = worker.busy;
  await Bun.sleep(WHILE);
  return (worker.busy - before) / 1e6;
}

// By what the kernel tells of the thread: what it waits for is not to be seen otherwise.
describe.if(process.platform === "linux")("Sandbox: a process that waits", () => {
  test("takes no processor, after a run", async () => {
    expect(await worker.value("return 1")).toBe(1);
    expect(await worked()).toBeLessThan(WORK);
    expect(await worker.value("return 2")).toBe(2);
  });

  test("takes none while a call of its code is answered", async () => {
    const tools = JSON.stringify({ files: { read: "ask" } });
    let call: number | undefined;
    const value = worker.value("return await tools.files.read({})", { tools }, (_, id) => {
      call = id;
      return undefined;
    });
    while (call === undefined) await Bun.sleep(1);
    expect(await worked()).toBeLessThan(WORK);
    await worker.say(["answer", call, JSON.stringify({ ok: true, value: 3 }), 0]);
    expect(await value).toBe(3);
  });
});
