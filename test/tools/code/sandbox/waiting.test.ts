import { afterAll, describe, expect, test } from "bun:test";
import { until } from "./kit";
import { Worker } from "./worker";

const worker = new Worker();
afterAll(() => worker.close());

// By what the kernel tells of the thread: that it looks for something before it sleeps is not to be seen otherwise.
describe.if(process.platform === "linux")("Sandbox: a process that waits", () => {
  test("falls asleep after a run, however often it has looked in vain", async () => {
    for (let runs = 0; runs < 20; runs++) {
      expect(await worker.value("return input", { input: String(runs) })).toBe(runs);
      await until(() => worker.isAsleep);
    }
  });

  test("falls asleep while its code waits for a timer, and hears that it is to stop", async () => {
    const hasBegun = worker.heard("log");
    const body = "console.log(1); await new Promise((done) => setTimeout(done, 600_000))";
    const ended = worker.run(body, { timeout: 600_000 });
    await hasBegun;
    await until(() => worker.isAsleep);
    await worker.say(["stop", worker.number]);
    expect((await ended).outcome).toMatchObject({ kind: "timeout" });
  });

  test("falls asleep while a call of its code is answered", async () => {
    const tools = JSON.stringify({ files: { read: "ask" } });
    let call = 0;
    const isWaiting = worker.heard("waiting");
    const value = worker.value("return await tools.files.read({})", { tools }, (_, id) => {
      call = id;
      return undefined;
    });
    await isWaiting;
    await until(() => worker.isAsleep);
    await worker.say(["answer", call, JSON.stringify({ ok: true, value: 3 }), 0]);
    expect(await value).toBe(3);
  });
});
