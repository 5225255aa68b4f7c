import { addressOf, type Kernel, openKernel } from "./kernel";
import { CALLS, filterOf } from "./system-calls";

/** The kernel's bounds on a process, so that even code that broke out of the interpreter would reach nothing. */
export type Hold = "no-capabilities" | "dies-with-parent" | "limits" | "no-new-privileges" | "landlock" | "seccomp";

const PR_SET_PDEATHSIG = 1;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;
const CAPABILITY_VERSION_3 = 0x20080522;
/** Resource and most, from `include/uapi/asm-generic/resource.h`. The units are bytes, bytes and descriptors. */
const LIMITS = { fileSize: [1, 0], core: [4, 0], openFiles: [7, 64] } as const;
/** The numbers of Landlock's calls are the same for all processors. */
const [LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF] = [444, 446];

const calls = CALLS[process.arch];

/** Gives up for good everything this process can do without. Returns the bounds that hold: none outside of Linux. */
export function confine(kernel: Kernel | undefined = openKernel()): Hold[] {
  // The variables only served to start a compiled application as Bun. Code needs none of them.
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  if (kernel === undefined || calls === undefined) return [];
  const held: Hold[] = [];
  const attempt = (hold: Hold, isHeld: () => boolean): void => {
    if (isHeld()) held.push(hold);
  };
  // First: dropping capabilities after `dies-with-parent` could clear that setting.
  attempt("no-capabilities", () => {
    const header = new Uint8Array(Uint32Array.of(CAPABILITY_VERSION_3, 0).buffer);
    return kernel(calls.capset, header, new Uint8Array(24)) === 0;
  });
  attempt("dies-with-parent", () => kernel(calls.prctl, PR_SET_PDEATHSIG, SIGKILL) === 0);
  attempt("limits", () => Object.values(LIMITS).every(([resource, most]) => limit(kernel, resource, most)));
  attempt("no-new-privileges", () => kernel(calls.prctl, PR_SET_NO_NEW_PRIVS, 1) === 0);
  attempt("landlock", () => {
    const ruleset = rulesetOf(kernel(LANDLOCK_CREATE_RULESET, 0, 0, 1));
    if (ruleset === undefined) return false;
    const descriptor = kernel(LANDLOCK_CREATE_RULESET, ruleset, ruleset.length);
    if (descriptor < 0) return false;
    const isHeld = kernel(LANDLOCK_RESTRICT_SELF, descriptor) === 0;
    kernel(calls.close, descriptor);
    return isHeld;
  });
  attempt("seccomp", () => {
    const filter = filterOf(process.arch, process.pid);
    if (filter === undefined) return false;
    const program = new Uint8Array(16); // struct sock_fprog
    const view = new DataView(program.buffer);
    view.setUint16(0, filter.length / 8, true);
    view.setBigUint64(8, BigInt(addressOf(filter)), true);
    // SECCOMP_SET_MODE_FILTER, for all threads (SECCOMP_FILTER_FLAG_TSYNC).
    return kernel(calls.seccomp, 1, 1, program) === 0;
  });
  return held;
}

/** Bounds a resource of this process for good. A lower bound that exists already stays. */
export function limit(kernel: Kernel, resource: number, most: number): boolean {
  if (calls === undefined) return false;
  const both = BigUint64Array.of(BigInt(most), BigInt(most));
  if (kernel(calls.prlimit64, 0, resource, new Uint8Array(both.buffer)) === 0) return true;
  // The kernel refuses to raise a bound: see whether the present one is low enough.
  return kernel(calls.prlimit64, 0, resource, 0, new Uint8Array(both.buffer)) === 0 && (both[1] ?? 0n) <= BigInt(most);
}

/** A ruleset that handles everything this version of Landlock knows, with no rule that allows any of it. */
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
