import { expect } from "bun:test";
import type { System } from "../../src/index";

/** P1: what was accepted is what became of it, at this very moment. */
export function expectBalanced({ router }: System): void {
  const audit = router.audit();
  const { accepted, handled, failed, dead, sent = 0, queued, running } = audit;
  const sum = handled + failed + dead + sent + queued + running;
  if (sum !== accepted) expect({ ...audit, accepted: sum }).toEqual(audit);
}
