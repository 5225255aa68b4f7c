import type { MetricFamily, Sample } from "./contract";

/** A family of one value. */
export const familyOf = (
  type: "counter" | "gauge",
  name: string,
  help: string,
  value: number,
  labels: Sample["labels"] = {},
): MetricFamily => ({ name, type, help, samples: [{ labels, value }] });
