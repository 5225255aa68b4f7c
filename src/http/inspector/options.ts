import { type OptionCheck, type OptionChecks, option } from "../../index";

/** The inspector of a gateway. */
export interface InspectorOptions {
  /** True to show it to everybody, without a caller: for a server that only you can reach. Default: false. */
  readonly isOpen?: boolean;
  /**
   * Milliseconds from one look at the actors to the next, from 100 on. Where looks take long, the next one comes later: 300 times as long as
   * the quickest of the last three took. Default: 1,000.
   */
  readonly every?: number;
  /** Most entries of the log that are kept, of failures and dead letters; as many of starts and stops. Default: 500. */
  readonly log?: number;
}

const OPTIONS: OptionChecks<InspectorOptions> = {
  isOpen: option.flag,
  every: option.rule(
    "is a number of milliseconds from 100, and at most 60,000",
    (value) => typeof value === "number" && value >= 100 && value <= 60_000,
    RangeError,
  ),
  log: option.count,
};

/** The check of the option. */
export const checkInspector: OptionCheck = (value, name, of) => {
  if (typeof value !== "boolean") option.group(OPTIONS, "{ every: 2_000 }")(value, name, of);
};
