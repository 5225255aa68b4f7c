import { constants } from "node:os";
import { type Static, Type } from "../../index";

/** The kinds of file errors. */
const Kind = Type.Union([
  Type.Literal("not-found"),
  Type.Literal("exists"),
  Type.Literal("outside-root"),
  Type.Literal("is-directory"),
  Type.Literal("not-a-directory"),
  Type.Literal("not-a-file"),
  Type.Literal("not-text"),
  Type.Literal("too-large"),
  Type.Literal("quota"),
  Type.Literal("denied"),
  Type.Literal("read-only"),
  Type.Literal("changed"),
  Type.Literal("no-match"),
  Type.Literal("ambiguous-match"),
  Type.Literal("invalid-path"),
  Type.Literal("io"),
]);

/**
 * The reason why a file was not read or written, as plain data:
 *
 * | kind | what happened |
 * | --- | --- |
 * | `not-found` | nothing has this name, or a directory on the way is missing |
 * | `exists` | something has this name already |
 * | `outside-root` | the path is absolute, or has a `..` |
 * | `is-directory` | a directory is where a file is needed, or it is not empty |
 * | `not-a-directory` | a file is where a directory is needed |
 * | `not-a-file` | it is a FIFO, a socket or a device |
 * | `not-text` | the bytes are not UTF-8, or the text has half of a surrogate pair |
 * | `too-large` | more bytes, entries or matches than the actor's limits allow |
 * | `quota` | the root, or the roots of one quota, would hold more bytes or files than they may |
 * | `denied` | a symbolic link, a hard link, a glob, or the operating system forbids it; or a search that is not supported |
 * | `read-only` | the actor, or the file system, takes no changes |
 * | `changed` | the file is not the one of the etag any more |
 * | `no-match` | an edit's text does not occur; `lines` are the nearest |
 * | `ambiguous-match` | an edit's text occurs more than once; `lines` say where |
 * | `invalid-path` | no file can have this path |
 * | `io` | the operating system failed, such as with a full disk |
 */
export const FileError = Type.Object({
  kind: Kind,
  /** The path as the caller wrote it. A path of the host is never shown. */
  path: Type.String(),
  /** A sentence: what happened, and what to do. */
  message: Type.String(),
  /** Lines of the file, counted from 1. */
  lines: Type.Optional(Type.Array(Type.Object({ line: Type.Integer(), text: Type.String() }))),
  /** For `changed`: the etag of the present file. Left out if the file is gone. */
  etag: Type.Optional(Type.String()),
});
export type FileError = Static<typeof FileError>;

type Details = Pick<FileError, "lines" | "etag">;

/** Carries an error to the edge of the actor, where it becomes the reply. It is no Error, since it needs no stack. */
export class FileRefusal {
  constructor(readonly error: FileError) {}
}

/** Refuses the request. */
export function refuse(kind: FileError["kind"], path: string, message: string, details?: Details): never {
  throw new FileRefusal({ kind, path, message, ...details });
}

const { errno } = constants;

export const ROOT_IS_GONE = "The directory that is served is gone; make it, and spawn the actor again.";

/** Refuses the request for an error of the operating system. `code` is an errno, or a negated one from the root. */
export function refuseFor(code: number, path: string): never {
  const shown = JSON.stringify(path);
  switch (Math.abs(code)) {
    case errno.ENOENT:
      if (/^[./]*$/.test(path)) {
        return refuse("not-found", path, ROOT_IS_GONE);
      }
      return refuse("not-found", path, `There is no ${shown}; list its directory to see what is there.`);
    case errno.EEXIST:
      return refuse("exists", path, `${shown} exists already.`);
    case errno.EISDIR:
      return refuse("is-directory", path, `${shown} is a directory; name a file.`);
    case errno.ENOTEMPTY:
      return refuse("is-directory", path, `${shown} is a directory that is not empty.`);
    case errno.ENOTDIR:
      return refuse("not-a-directory", path, `${shown}, or what is on its way, is no directory; see with stat which.`);
    case errno.ELOOP:
      return refuse("denied", path, `${shown} is a symbolic link, or leads through one; links are not followed.`);
    case errno.EXDEV:
      return refuse("outside-root", path, `${shown} leads out of the root.`);
    case errno.ENXIO:
    case errno.ENODEV:
      return refuse("not-a-file", path, `${shown} is no regular file.`);
    case errno.EACCES:
    case errno.EPERM:
      return refuse("denied", path, `The operating system does not allow this for ${shown}.`);
    case errno.EROFS:
      return refuse("read-only", path, `${shown} is on a file system that takes no changes.`);
    case errno.ENAMETOOLONG:
      return refuse("invalid-path", path, `${shown} is longer than a path can be.`);
    case errno.ENOSPC:
    case errno.EDQUOT:
      return refuse("io", path, `The disk is full; delete something, and write ${shown} again.`);
    case errno.EMFILE:
    case errno.ENFILE:
      return refuse("io", path, `Too many files are open; try ${shown} again later.`);
    default:
      return refuse("io", path, `The operating system failed at ${shown}: ${nameOf(Math.abs(code))}.`);
  }
}

/** Refuses the request if `code` is a negated errno. */
export function expectSuccess(code: number, path: string): void {
  if (code < 0) refuseFor(code, path);
}

/** Refuses to replace a file that differs from the one the caller has seen. `etag` is that of the present file. */
export function refuseChanged(path: string, etag?: string): never {
  const advice = "read it again, and write what fits it now";
  return refuse(
    "changed",
    path,
    `${JSON.stringify(path)} is not what it was; ${advice}.`,
    etag === undefined ? {} : { etag },
  );
}

const names = new Map(Object.entries(errno).map(([name, code]) => [code, name]));
const nameOf = (code: number): string => names.get(code) ?? `errno ${code}`;
