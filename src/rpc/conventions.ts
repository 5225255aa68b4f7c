import { type Metadata, type Progress, traceOf } from "../index";
import type { CancelName, ProgressName, RequestId } from "./contract";

// JSON-RPC has neither cancellation, nor progress, nor a place for a trace. These are the conventions of LSP, ACP and MCP.

/** A value as the members of an object; none for anything else. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : NONE; // It is one.

const NONE = Object.freeze({});

/** True for a valid id. A fraction, or an integer beyond what a number holds exactly, could not be sent back as it came. */
export const isId = (id: unknown): id is RequestId =>
  typeof id === "string" || id === null || (typeof id === "number" && Number.isSafeInteger(id));

// ——— Cancellation

/** A convention of cancellation. */
export interface Cancelling {
  readonly method: string;
  /** The member of its params that has the id of the request. */
  readonly member: "id" | "requestId";
  /** True where a request that was cancelled is answered nevertheless. */
  readonly isAnswered: boolean;
}

const CANCELLING: { readonly [Name in CancelName]: Cancelling } = {
  "$/cancel_request": { method: "$/cancel_request", member: "requestId", isAnswered: true },
  "$/cancelRequest": { method: "$/cancelRequest", member: "id", isAnswered: true },
  "notifications/cancelled": { method: "notifications/cancelled", member: "requestId", isAnswered: false },
};

export const CANCEL_NAMES = Object.keys(CANCELLING) as readonly CancelName[]; // The table has them all.
export const cancellingBy = (name: CancelName): Cancelling => CANCELLING[name];

// ——— Progress

/** Names the request that a progress is about; chosen by the sender of the request. */
export type Token = string | number;

/** A progress that the other side told. */
export interface ToldProgress extends Progress {
  readonly token: unknown;
}

/** A convention of progress. */
export interface Progressing {
  readonly method: string;
  /** The token in the params of a request whose sender listens. */
  tokenIn(params: unknown): Token | undefined;
  /** The params with a token in them. Undefined where they have no place for it. */
  mark(params: unknown, token: Token): object | undefined;
  /** The params of a notification. `title` is set at the first progress of a request. */
  write(token: Token, progress: Progress, title: string | undefined): object;
  /** The params of a last notification, once the request has ended. Undefined where none is due. */
  end(token: Token): object | undefined;
  /** Reads the params of a notification. Undefined if they tell no progress. */
  read(params: unknown): ToldProgress | undefined;
}

const tokenOf = (value: unknown): Token | undefined =>
  typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value)) ? value : undefined;

const isPlain = (params: unknown): params is object | null | undefined => !Array.isArray(params);

/** `notifications/progress` of MCP: the token is in the `_meta` of the params. */
const MCP: Progressing = {
  method: "notifications/progress",
  tokenIn: (params) => tokenOf(membersOf(membersOf(params)["_meta"])["progressToken"]),
  mark: (params, progressToken) =>
    isPlain(params) ? { ...params, _meta: { ...membersOf(membersOf(params)["_meta"]), progressToken } } : undefined,
  write: (progressToken, { done, total, note }) => ({
    progressToken,
    progress: done,
    ...(total !== undefined && { total }),
    ...(note !== undefined && { message: note }),
  }),
  end: () => undefined,
  read(params) {
    const { progressToken: token, progress: done, total, message: note } = membersOf(params);
    return typeof done === "number" ? told(token, done, total, note) : undefined;
  },
};

/** `$/progress` of LSP: work begins, goes on and ends, in percent. */
const LSP: Progressing = {
  method: "$/progress",
  tokenIn: (params) => tokenOf(membersOf(params)["workDoneToken"]),
  mark: (params, workDoneToken) => (isPlain(params) ? { ...params, workDoneToken } : undefined),
  write: (token, { done, total, note }, title) => ({
    token,
    value: {
      ...(title === undefined ? { kind: "report" } : { kind: "begin", title }),
      ...(note !== undefined && { message: note }),
      ...(total !== undefined &&
        total > 0 && { percentage: Math.min(Math.max(Math.round((100 * done) / total), 0), 100) }),
    },
  }),
  end: (token) => ({ token, value: { kind: "end" } }),
  read(params) {
    const { token, value } = membersOf(params);
    const { kind, percentage, message, title } = membersOf(value);
    if (kind !== "begin" && kind !== "report") return undefined;
    const note = message ?? title;
    return typeof percentage === "number" ? told(token, percentage, 100, note) : told(token, 0, undefined, note);
  },
};

const told = (token: unknown, done: number, total: unknown, note: unknown): ToldProgress => ({
  token,
  done,
  ...(typeof total === "number" && { total }),
  ...(typeof note === "string" && { note }),
});

const PROGRESSING: { readonly [Name in ProgressName]: Progressing } = {
  "$/progress": LSP,
  "notifications/progress": MCP,
};

export const PROGRESS_NAMES = Object.keys(PROGRESSING) as readonly ProgressName[]; // The table has them all.
export const progressingBy = (name: ProgressName): Progressing => PROGRESSING[name];

// ——— Trace context: in the `_meta` of the params, where MCP and ACP have reserved its names.

/** The trace that a message belongs to. Undefined where there is none, or one that is not well formed. */
export const traceIn = (params: unknown): Metadata | undefined => traceOf(membersOf(params)["_meta"]);

/** Params without the trace that was found in them: the schema of an operation need not know of it. */
export function withoutTrace(params: unknown): unknown {
  const { _meta, ...others } = membersOf(params);
  const { traceparent: _, tracestate: __, ...meta } = membersOf(_meta);
  return Object.keys(meta).length === 0 ? others : { ...others, _meta: meta };
}

/** The params with the trace of their message, if it has one. An array has no place for it, and a trace of the params' own stays. */
export function withTrace(params: unknown, metadata: Metadata | undefined): unknown {
  const trace = traceOf(metadata);
  if (trace === undefined || !isPlain(params)) return params;
  const meta = membersOf(membersOf(params)["_meta"]);
  return "traceparent" in meta ? params : { ...params, _meta: { ...meta, ...trace } };
}
