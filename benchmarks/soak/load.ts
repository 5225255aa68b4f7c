/** Work that goes on as long as it is asked to. A module that a soak runs exports `open: OpenLoad`. */
export interface Load {
  /** Does some of each kind of work, and resolves with how many operations were completed; rejects when one went wrong. */
  readonly round: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

export type OpenLoad = () => Load | Promise<Load>;
