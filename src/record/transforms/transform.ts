import { quote } from "../../index";
import { fits, PARTS, type Part, parsePath, type Step } from "./paths";

/** The place of a value in a recording. */
export interface Place {
  /** The address of the actor that the message is for. */
  readonly address: string;
  /** The address of the pool that gave the message to this actor and to others. Undefined for most. */
  readonly pool?: string | undefined;
  readonly operation: string;
  /** Its part of the line. */
  readonly part: Part;
}

/** Limits a transform to some messages. Default: all. */
export interface TransformScope {
  /** The address of the actor, in which `*` stands for any characters: `@(users/*)`. */
  readonly actor?: string;
  /** The operation, in which `*` stands for any characters. */
  readonly operation?: string;
  /** The part of the line: `payload`, `reply`, `item`, `error` or `metadata`. */
  readonly part?: Part;
}

/** The options of `mask`. */
export interface MaskOptions extends TransformScope {
  /** The number of characters at the end that stay, and never more than a quarter of the text. Default: 4. */
  readonly keep?: number;
}

/** The kinds of transforms, which are the names of what makes them. */
type Kind = "redact" | "mask" | "replace" | "drop";

/**
 * Changes what is written of a value: made by `redact`, `mask`, `replace` or `drop`. Its text is the one that stands in the header.
 *
 * @throws TypeError when the path or a limit is invalid.
 * @example
 * const transforms: Transform[] = [redact("payload.email"), drop("reply.debug")];
 * console.log(transforms.join()); // "redact payload.email,drop reply.debug"
 */
export class Transform {
  readonly kind: Kind;
  readonly path: string;
  readonly scope: TransformScope;
  /** The path, as it was read. */
  readonly steps: readonly Step[];
  /** True when the path ends with a name: then its owner has decided for what is there, and no default judges it by its name. */
  readonly isNamed: boolean;
  /** The characters that a mask keeps. */
  readonly keep: number;
  /** The value in place of another one. */
  readonly replacement: (value: unknown, place: Place) => unknown;

  /** @throws TypeError when the path or a limit is invalid. */
  constructor(
    kind: Kind,
    path: string,
    scope: TransformScope,
    more: Partial<Pick<Transform, "keep" | "replacement">> = {},
  ) {
    checkScope(kind, path, scope);
    this.kind = kind;
    this.path = path;
    this.scope = scope;
    this.steps = parsePath(path);
    this.isNamed = this.steps.at(-1)?.kind === "key";
    this.keep = more.keep ?? 0;
    this.replacement = more.replacement ?? (() => undefined);
  }

  /** As it stands in the header of a recording: `redact payload.email of @(users/*)`. Not what it replaces by, which may be secret. */
  toString(): string {
    const { actor, operation, part } = this.scope;
    const scope = [actor, operation, part].filter((each) => each !== undefined);
    return `${this.kind} ${this.path}${scope.length === 0 ? "" : ` of ${scope.join(" ")}`}`;
  }
}

/** True for what `redact`, `mask`, `replace` or `drop` made. */
export function isTransform(value: unknown): value is Transform {
  return value instanceof Transform;
}

/**
 * Writes a keyed hash in place of each value at a path: `redacted:` and 22 characters. Equal values have equal hashes in one recording,
 * and in all recordings with one `key`; nothing else can be told of them.
 *
 * @throws TypeError when the path or a limit is invalid.
 * @example
 * redact("payload.user.email")
 * redact("**.ssn", { actor: "@(patients/*)" })
 */
export function redact(path: string, scope: TransformScope = {}): Transform {
  return new Transform("redact", path, scope);
}

/**
 * Writes `***` and the last characters in place of each text or number at a path. Anything else there is redacted.
 *
 * @throws TypeError when the path, `keep` or a limit is invalid.
 * @example
 * mask("payload.card", { keep: 4 }) // "***4242"
 */
export function mask(path: string, options: MaskOptions = {}): Transform {
  const { keep = 4, ...scope } = options;
  if (!Number.isInteger(keep) || keep < 0) {
    throw new TypeError(`The keep of mask(${quote(path)}) is a number of characters, such as 4; got ${quote(keep)}.`);
  }
  return new Transform("mask", path, scope, { keep });
}

/**
 * Writes another value in place of each one at a path: the given one, or what a function makes of it. The function gets the value as the
 * program has it, secrets included. Its result goes through the transforms whose paths lead further, and through the defaults; only a
 * place that the path itself ends with by name (`payload.token`, not `payload.*`) is not judged by its name. Where the function throws,
 * the value is redacted.
 *
 * @throws TypeError when the path or a limit is invalid.
 * @example
 * replace("payload.name", "somebody")
 * replace("payload.bornOn", (date) => String(date).slice(0, 4))
 */
export function replace(
  path: string,
  value: (value: unknown, place: Place) => unknown,
  scope?: TransformScope,
): Transform;
export function replace(path: string, value: unknown, scope?: TransformScope): Transform;
export function replace(path: string, value: unknown, scope: TransformScope = {}): Transform {
  const replacement = typeof value === "function" ? (value as Transform["replacement"]) : () => value;
  return new Transform("replace", path, scope, { replacement });
}

/**
 * Leaves out each value at a path, with its key. An item of a list goes, too, and those behind it move up.
 *
 * @throws TypeError when the path or a limit is invalid.
 * @example
 * drop("metadata.*")
 */
export function drop(path: string, scope: TransformScope = {}): Transform {
  return new Transform("drop", path, scope);
}

function checkScope(kind: Kind, path: string, scope: TransformScope): void {
  if (typeof scope !== "object" || scope === null) {
    throw new TypeError(`${kind}(${quote(path)}) is limited by { actor, operation, part }; got ${quote(scope)}.`);
  }
  for (const key of ["actor", "operation"] as const) {
    const pattern = scope[key];
    if (pattern !== undefined && (typeof pattern !== "string" || pattern === "")) {
      throw new TypeError(
        `The ${key} of ${kind}(${quote(path)}) is a text, where * fits anything; got ${quote(pattern)}.`,
      );
    }
  }
  if (scope.part !== undefined && !PARTS.includes(scope.part)) {
    throw new TypeError(`The part of ${kind}(${quote(path)}) is one of ${PARTS.join(", ")}; got ${quote(scope.part)}.`);
  }
}

/** True when a transform holds for a message's part. */
export function holdsFor({ scope }: Transform, { address, pool, operation, part }: Place): boolean {
  const { actor, operation: name } = scope;
  return (
    (scope.part === undefined || scope.part === part) &&
    (actor === undefined || fits(actor, address) || (pool !== undefined && fits(actor, pool))) &&
    (name === undefined || fits(name, operation))
  );
}
