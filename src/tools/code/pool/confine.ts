import { type Pointer, ptr, FFIType as T } from "bun:ffi";
import { openLibrary } from "../../c-library";
import { filterOf } from "./system-calls";

/** What holds a process beside the interpreter, so that even code that broke out of it would reach nothing. */
export type Hold = "dies-with-parent" | "limits" | "no-new-privileges" | "landlock" | "seccomp";

const SYMBOLS = {
  // Numbers go as pointers do, in a register each.
  syscall: { args: [T.i64, T.u64, T.u64, T.u64, T.u64, T.u64], returns: T.i64_fast },
  setrlimit: { args: [T.i32, T.ptr], returns: T.i32 },
} as const;

const PR_SET_PDEATHSIG = 1;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;
/** From `include/uapi/asm-generic/resource.h`, by what it bounds: a number of bytes, of bytes, and of descriptors. */
const LIMITS = { fileSize: [1, 0], core: [4, 0], openFiles: [7, 64] } as const;
/** Those of Landlock are the same for all processors. */
const [LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF] = [444, 446];
const CALLS: Record<string, { readonly prctl: number; readonly seccomp: number }> = {
  x64: { prctl: 157, seccomp: 317 },
  arm64: { prctl: 167, seccomp: 277 },
};

/** Gives up, for good, all that this process can do without; tells what holds. Nothing where this is not Linux. */
export function confine(): Hold[] {
  const calls = CALLS[process.arch];
  if (process.platform !== "linux" || calls === undefined) return [];
  const libc = openLibrary(SYMBOLS);
  if (libc === undefined) return [];
  const call = (number: number, ...args: (number | bigint | Uint8Array)[]): number => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = args.map((arg) => (arg instanceof Uint8Array ? addressOf(arg) : arg));
    return Number(libc.syscall(number, a, b, c, d, e));
  };
  const held: Hold[] = [];
  const attempt = (hold: Hold, isHeld: () => boolean): void => {
    if (isHeld()) held.push(hold);
  };
  attempt("dies-with-parent", () => call(calls.prctl, PR_SET_PDEATHSIG, SIGKILL) === 0);
  attempt("limits", () =>
    Object.values(LIMITS).every(([resource, most]) => {
      const both = new BigUint64Array([BigInt(most), BigInt(most)]);
      return libc.setrlimit(resource, both) === 0;
    }),
  );
  attempt("no-new-privileges", () => call(calls.prctl, PR_SET_NO_NEW_PRIVS, 1) === 0);
  attempt("landlock", () => {
    const ruleset = rulesetOf(call(LANDLOCK_CREATE_RULESET, 0, 0, 1));
    if (ruleset === undefined) return false;
    const descriptor = call(LANDLOCK_CREATE_RULESET, ruleset, ruleset.length);
    return descriptor >= 0 && call(LANDLOCK_RESTRICT_SELF, descriptor) === 0;
  });
  attempt("seccomp", () => {
    const filter = filterOf(process.arch, process.pid);
    if (filter === undefined) return false;
    const program = new Uint8Array(16); // struct sock_fprog
    const view = new DataView(program.buffer);
    view.setUint16(0, filter.length / 8, true);
    view.setBigUint64(8, BigInt(addressOf(filter)), true);
    // SECCOMP_SET_MODE_FILTER, for all threads (SECCOMP_FILTER_FLAG_TSYNC).
    return call(calls.seccomp, 1, 1, program) === 0;
  });
  return held;
}

/** A pointer is a number at run time. */
const addressOf = (bytes: Uint8Array): number => ptr(bytes) as Pointer as number;

/** A ruleset that handles all that this version of Landlock knows, and has no rule that allows any of it. */
function rulesetOf(version: number): Uint8Array | undefined {
  if (version < 1) return undefined;
  const files = version >= 5 ? 16n : version >= 3 ? 15n : version >= 2 ? 14n : 13n;
  const attributes = new BigUint64Array([
    (1n << files) - 1n,
    version >= 4 ? 3n : 0n, // Binding and connecting TCP.
    version >= 6 ? 1n : 0n, // Abstract sockets.
  ]);
  return new Uint8Array(attributes.buffer, 0, version >= 6 ? 24 : version >= 4 ? 16 : 8);
}
