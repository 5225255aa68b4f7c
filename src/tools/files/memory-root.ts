/** The part of `node:fs` that an in-memory file system needs to be served: memfs's `Volume` has it. */
export interface Volume {
  readonly toJSON: () => Record<string, string | null>;
}
