import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { address, createDeliveryError, createMessage } from "../../../src/index";
import { inspected, spawnWorker } from "./service";

describe("P18: what a stranger can bring about", () => {
  test("names and reasons that look like markup are text, whole and bounded", async () => {
    const { system, clock, look } = inspected();
    const hostile = '<img-src=x-onerror=alert(1)>"\u2028</script>';
    expect(() => spawnWorker(system, hostile)).toThrow(); // No name may have such letters. Reasons and operations may.
    await using page = await look();
    await page.next();
    system.router.tell(createMessage(address("nobody"), hostile.repeat(100), undefined));
    system.deadLetter(createDeliveryError("payload-too-large", createMessage(address("nobody"), "<b>", undefined), 1));
    await clock.settle();
    const { letters, log } = await page.later();
    expect(letters.map(({ operation }) => operation.length)).toEqual([3, 300]);
    expect(letters[0]?.operation).toBe("<b>");
    expect(Math.max(...log.map(({ text }) => text.length))).toBeLessThan(700);
  });

  test("a text that is cut keeps nothing of what was cut off", async () => {
    const { system, clock, look } = inspected();
    await using page = await look();
    await page.next();
    const heap = (): number => {
      Bun.gc(true);
      const { heapSize, extraMemorySize } = heapStats();
      return heapSize + extraMemorySize;
    };
    const before = heap();
    for (let count = 0; count < 400; count++) {
      const long = Buffer.alloc(100_000, "x").toString("latin1");
      system.publish({ kind: "test:long", address: address("nobody"), detail: `${long}${count}` });
    }
    await clock.settle();
    expect((await page.later()).logged).toBe(400);
    expect(heap() - before).toBeLessThan(10_000_000); // 40 MB were published.
  });

  test("failures are told among actors that come and go by the thousand", async () => {
    const { system, clock, look } = inspected({ inspector: { isOpen: true, log: 50 } });
    const stable = spawnWorker(system, "stable");
    await using page = await look();
    const { logged } = await page.next();
    for (let count = 0; count < 2_000; count++) void system.stop(spawnWorker(system, `visitor-${count}`));
    await clock.settle();
    stable.tell("fail");
    await clock.settle();
    const { log, isLogCut } = await page.later();
    expect(log.filter(({ kind }) => kind === "failed").map(({ text }) => text)).toEqual([
      "fail: the disk is full (restart)",
    ]);
    expect([isLogCut, log.length]).toEqual([true, 52]);
    expect(log[0]?.id).toBeGreaterThan(logged);
    expect((await page.later()).isLogCut).toBe(false);
  });

  test("a flood of events costs a bounded number of them, and is told", async () => {
    const { system, clock, look } = inspected({ inspector: { isOpen: true, log: 50 } });
    await using page = await look();
    await page.next();
    for (let count = 0; count < 5_000; count++) {
      system.router.tell(createMessage(address(`nobody-${count}`), "greet", undefined));
    }
    await clock.settle();
    const frame = await page.later();
    expect(frame.isLogCut).toBe(true);
    expect(frame.logged).toBe(1_000); // The others were not looked at.
    expect(frame.log.length).toBe(50);
    expect(frame.letters.length).toBe(100);
    expect(frame.totals.dead).toBe(5_000);
    system.router.tell(createMessage(address("nobody"), "greet", undefined));
    await clock.settle();
    const next = await page.later();
    expect(next.log.map(({ address: at }) => String(at))).toEqual(["@(nobody)"]);
    expect(next.isLogCut).toBe(false);
  });
});
