import type { Audit, System } from "../index";
import { flattened, occupied } from "./simulate-trace";

// The core's promises for every program, checked after each run.

/** P1: the accepted messages are as many as all outcomes together. */
export function audited({ router }: System): Audit {
  const audit = router.audit();
  const { accepted, handled, failed, dead, sent = 0, queued, running } = audit;
  const sum = handled + failed + dead + sent + queued + running;
  if (sum !== accepted) {
    throw new Error(`the audit does not balance: ${accepted} accepted, but ${sum} in all: ${JSON.stringify(audit)}`);
  }
  return audit;
}

/** Once nothing is left to do, no actor is in the middle of something, and none has forgotten a waiting message. */
export function left(system: System, mayStayUnfinished: boolean): void {
  const reports = system.inspect();
  for (const { address, state } of flattened(reports)) {
    if (state === "ready" || state === "handling" || state === "starting") {
      throw new Error(`nothing is left to do, but ${address} is ${state}`);
    }
  }
  const { queued, running } = audited(system);
  if (mayStayUnfinished || queued + running === 0) return;
  throw new Error(
    `the program has ended, but ${queued} messages are queued and ${running} are being handled: ${occupied(reports).join("; ")}`,
  );
}

/** P6 and P13: a shutdown leaves no message, no actor and no timer. */
export function closed(system: System, timers: number): void {
  const { queued, running } = audited(system);
  if (queued + running > 0) throw new Error(`the shutdown left ${queued} messages queued and ${running} running`);
  const there = flattened(system.inspect());
  if (there.length > 0) {
    throw new Error(`the shutdown left ${there.map(({ address }) => address).join(", ")}`);
  }
  if (timers > 0) throw new Error(`the shutdown left ${timers} timers: something still waits`);
}
