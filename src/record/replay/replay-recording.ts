import type { Protocol, Ref, System } from "../../index";
import { randomFrom } from "../random";
import { RECORDER, type Recording, type RecordingCounts } from "../recording";
import { unansweredOf } from "./tape";
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
  readonly #forget: () => void;
  readonly #tells: boolean;
  #isClosed = false;

  /**
   * @param path that of the recording; undefined for one that is in memory.
   * @param tells true to tell, at its end, of calls that got no answer. A report of a replay tells it by itself.
   */
  constructor(system: System, world: RecordedWorld, path: string | undefined, tells: boolean) {
    this.path = path;
    this.random = randomFrom(world.seed);
    this.#system = system;
    this.#world = world;
    this.#forget = tells ? system.onShutdown(() => this.close()) : () => {};
    this.#tells = tells;
  }

  outside<Signatures>(name: string, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    return this.#world.attach(this.#system, name, protocol);
  }
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    const { unanswered } = this.#world;
    if (!this.#tells || unanswered.size === 0) return;
    const sentence = unansweredOf([...unanswered]);
    const detail = { path: this.path, messages: Array.from(unanswered, ({ line }) => line.id) };
    this.#system.log.warn(sentence, detail);
    this.#system.publish({ kind: "record:unanswered", address: RECORDER, detail: { ...detail, sentence } });
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
