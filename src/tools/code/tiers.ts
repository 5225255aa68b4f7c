import type { Clock } from "../../index";
import { createProcessTier } from "./process/create-process-tier";
import { createSandbox } from "./sandbox/create-sandbox";
import type { Isolation, Tier } from "./tier";
import { createTrusted } from "./trusted/trusted";

/** Options of every tier. */
export interface TierOptions {
  /** Most runs at once. */
  readonly size: number;
  /** Most runs that wait beside them. */
  readonly maxWaiting: number;
  readonly clock: Clock;
}

/** Opens the tier of an isolation. */
export function openTier(isolation: Isolation, { size, maxWaiting, clock }: TierOptions): Tier {
  // In this process, no run waits for a place: those that would wait elsewhere start at once.
  if (isolation === "trusted") return createTrusted({ size: size + maxWaiting, clock });
  if (isolation === "process") return createProcessTier({ size, maxWaiting, clock });
  return createSandbox({ size, maxWaiting, clock });
}
