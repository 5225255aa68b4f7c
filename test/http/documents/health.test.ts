import { describe, expect, test } from "bun:test";
import { createGateway, type GatewayOptions } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";

const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });

function service(health?: GatewayOptions["health"]) {
  const clock = createManualClock();
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const system = createSystem({ clock, logger: { warn: log, error: log } });
  const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
  const gateway = createGateway(system, {
    expose: { echo: { ref: echo, operations: ["say"] } },
    ...(health !== undefined && { health }),
  });
  const probe = (name: string): Promise<Response> => gateway.fetch(new Request(`http://x/health${name}`));
  const statuses = async (): Promise<number[]> =>
    (await Promise.all(["/live", "/ready", ""].map(probe))).map(({ status }) => status);
  return { clock, system, echo, gateway, probe, statuses, logged };
}

describe("a probe of health", () => {
  test("finds a service live and ready, and is not kept by a cache", async () => {
    const { probe, statuses } = service();
    expect(await statuses()).toEqual([200, 200, 200]);
    const response = await probe("");
    expect(await response.json()).toEqual({ status: "pass" });
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("P13: finds it live but not ready while it drains", async () => {
    const { gateway, probe, statuses } = service();
    await gateway.drain(0);
    expect(await statuses()).toEqual([200, 503, 503]);
    const response = await probe("/ready");
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toMatchObject({ status: 503, kind: "unavailable", retryable: true });
  });

  test("finds it not ready once all its actors have stopped, though nobody has drained the gateway", async () => {
    const { system, statuses } = service();
    await system.shutdown();
    expect(await statuses()).toEqual([200, 503, 503]);
  });

  test("asks the owner: not ready for false, a rejection, an error thrown and anything that is not true", async () => {
    const answers: [() => unknown, number][] = [
      [() => true, 200],
      [async () => true, 200],
      [() => false, 503],
      [() => Promise.reject(new Error("secret")), 503],
      [
        () => {
          throw new Error("secret");
        },
        503,
      ],
      [() => "yes", 503],
      [() => undefined, 503],
    ];
    for (const [ready, status] of answers) {
      const { probe, logged } = service({ ready: ready as () => boolean }); // Not all are: that is the test.
      const response = await probe("/ready");
      expect(response.status).toBe(status);
      expect(await response.text()).not.toContain("secret");
      expect(logged.length).toBe(/secret/.test(String(ready)) ? 1 : 0);
    }
  });

  test("P18: is answered in time though the owner's check is not, and its signal is aborted", async () => {
    let signal: AbortSignal | undefined;
    const { clock, probe } = service({
      timeout: 250,
      ready: (given) => {
        signal = given;
        return new Promise(() => {});
      },
    });
    const response = probe("/ready");
    await clock.advance(249);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(signal?.aborted).toBe(true);
    expect((await response).status).toBe(503);
    expect(clock.timers).toBe(0);
  });

  test("P18: however many come, the owner is asked once in a second", async () => {
    let asked = 0;
    const { clock, probe } = service({ ready: () => ++asked !== 2 });
    const all = async (): Promise<Set<number>> =>
      new Set((await Promise.all(Array.from({ length: 50 }, () => probe("/ready")))).map(({ status }) => status));
    expect(await all()).toEqual(new Set([200]));
    await clock.advance(999);
    expect(await all()).toEqual(new Set([200]));
    expect(asked).toBe(1);
    await clock.advance(1);
    expect(await all()).toEqual(new Set([503]));
    await clock.advance(1_000);
    expect(await all()).toEqual(new Set([200]));
    expect(asked).toBe(3);
  });

  test("a late answer counts for nothing", async () => {
    const answers: ((passes: boolean) => void)[] = [];
    const { clock, probe } = service({ ready: () => new Promise((resolve) => answers.push(resolve)) });
    const first = probe("/ready");
    await clock.advance(1_000);
    expect((await first).status).toBe(503);
    answers[0]?.(true);
    expect((await probe("/ready")).status).toBe(503);
    await clock.advance(1_000);
    const second = probe("/ready");
    answers[1]?.(true);
    expect((await second).status).toBe(200);
  });

  test("options that cannot be are refused at once", () => {
    expect(() => service({ ready: true as never })).toThrow(/ready .*function/);
    expect(() => service({ timeout: 0 })).toThrow(RangeError);
  });
});
