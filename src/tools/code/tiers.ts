import type { Clock } from "../../index";
import { createProcessTier } from "./process/create-process-tier";
import { createSandbox } from "./sandbox/create-sandbox";
import type { Isolation, Tier } from "./tier";
import { createTrusted } from "./trusted/trusted";

/** What every tier is opened with. */
export interface TierOptions {
  /** How many run at once. */
  readonly size: number;
  /** How many wait beside them. */
  readonly maxWaiting: number;
  readonly clock: Clock;
}

/** Opens a way of running code. */
export function openTier(isolation: Isolation, { size, maxWaiting, clock }: TierOptions): Tier {
  // In this process there is nothing to wait for: what would wait elsewhere is under way.
  if (isolation === "trusted") return createTrusted({ size: size + maxWaiting, clock });
  if (isolation === "process") return createProcessTier({ size, maxWaiting, clock });
  return createSandbox({ size, maxWaiting, clock });
}
