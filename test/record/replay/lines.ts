import type { EndLine, MessageLine, RecordingLine } from "../../../src/record/index";

/** Writes the lines of a recording by hand: `lines(ask(1, 0, "@(a)", "add", 2), end(1, 5, { value: 2 }))`. */
export const lines = (...rest: readonly RecordingLine[]): RecordingLine[] => [
  {
    kind: "header",
    format: 1,
    recording: "by-hand",
    part: 1,
    envoi: "0.1.0",
    runtime: "bun",
    system: "envoi",
    startedAt: "2026-01-01T00:00:00.000Z",
    seed: 7,
  },
  ...rest,
];

const message =
  (pattern: MessageLine["pattern"]) =>
  (
    id: number,
    at: number,
    to: string,
    operation: string,
    payload?: unknown,
    more: Partial<MessageLine> = {},
  ): MessageLine => ({
    kind: "message",
    id,
    at,
    pattern,
    to,
    operation,
    ...(payload !== undefined && { payload }),
    ...more,
  });

export const ask = message("ask");
export const tell = message("tell");
export const stream = message("stream");

export const item = (of: number, at: number, value: unknown): RecordingLine => ({ kind: "item", of, at, value });

export const end = (of: number, at: number, more: Partial<EndLine> = {}): RecordingLine => ({
  kind: "end",
  of,
  at,
  outcome: "handled",
  ...more,
});
