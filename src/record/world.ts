import type { Protocol, Ref, System } from "../index";

/** Answers the messages to actors outside of a system by what a recording has. */
export interface World {
  /**
   * Makes the reference that stands for an actor outside.
   *
   * @param name that of `recording.outside(name, …)`: it stands as `world` in the lines of the messages that went there.
   */
  attach<Signatures>(system: System, name: string, protocol: Protocol<string, Signatures>): Ref<Signatures>;
  /** The seed of the recording. */
  readonly seed: number;
}
