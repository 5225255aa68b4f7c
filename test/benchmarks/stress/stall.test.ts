import { expect, test } from "bun:test";
import { Requests } from "../../../benchmarks/stress/requests";
import { Schedule } from "../../../benchmarks/stress/schedule";

// In virtual time: a server that takes 1 ms for each request in turn, and stalls once for 200 ms.
const STALL = { from: 1_000, until: 1_200 };
const END = 4_000;

class Server {
  #free = 0;
  /** When a request that comes at a time is done. */
  done(at: number): number {
    let start = Math.max(at, this.#free);
    if (start >= STALL.from && start < STALL.until) start = STALL.until;
    this.#free = start + 1;
    return this.#free;
  }
}

function openSchedule() {
  const server = new Server();
  const requests = new Requests(10_000, 16);
  const schedule = new Schedule({ rate: 500, mix: { ask: 1 }, arrivals: "constant", seed: 1 }, 0);
  const window = requests.begin();
  while (schedule.due < END) {
    const { due } = schedule;
    requests.settle(requests.add(schedule.take(), due), undefined, server.done(due));
  }
  requests.end(window);
  return window.all.outcomes().latency;
}

test("an open schedule sees a stall of 200 ms in the percentiles, as it is", () => {
  const { p50, p95, p99, max } = openSchedule();
  // It serves two for each that comes, so the stall is felt for 400 ms: a tenth of the time, evenly from 200 ms down.
  expect(p50).toBeCloseTo(1, 1);
  expect(p95).toBeWithin(95, 106);
  expect(p99).toBeWithin(175, 186);
  expect(max).toBeCloseTo(201, 0);
});
