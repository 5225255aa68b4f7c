import type { Protocol, Ref, System } from "../../index";
import { randomFrom } from "../random";
import type { Recording, RecordingCounts } from "../recording";
import type { RecordedWorld } from "./world";

const NOTHING: RecordingCounts = Object.freeze({
  messages: 0,
  open: 0,
  lines: 0,
  bytes: 0,
  dropped: Object.freeze({ lines: 0, messages: 0 }),
});

/** Records nothing, and answers from a recording what is declared to be outside. */
export class ReplayRecording implements Recording {
  readonly mode = "replay";
  readonly isStopped = true;
  readonly counts = NOTHING;
  readonly path: string | undefined;
  readonly random: () => number;
  readonly #system: System;
  readonly #world: RecordedWorld;

  /** @param path that of the recording; undefined for one that is in memory. */
  constructor(system: System, world: RecordedWorld, path: string | undefined) {
    this.path = path;
    this.random = randomFrom(world.seed);
    this.#system = system;
    this.#world = world;
  }

  outside<Signatures>(name: string, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    return this.#world.attach(this.#system, name, protocol);
  }
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}
