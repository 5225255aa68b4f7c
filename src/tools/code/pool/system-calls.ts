import { CHANNEL } from "./channel";

/** System calls of x64 that a process needs once everything is loaded: memory, threads, time, its channel, its end. */
const ALLOWED: Readonly<Record<string, number>> = {
  read: 0,
  write: 1,
  close: 3,
  poll: 7,
  mmap: 9,
  mprotect: 10,
  munmap: 11,
  brk: 12,
  rt_sigaction: 13,
  rt_sigprocmask: 14,
  rt_sigreturn: 15,
  readv: 19,
  writev: 20,
  sched_yield: 24,
  mremap: 25,
  mincore: 27,
  nanosleep: 35,
  getpid: 39,
  exit: 60,
  getrusage: 98,
  sigaltstack: 131,
  gettid: 186,
  futex: 202,
  sched_getaffinity: 204,
  restart_syscall: 219,
  clock_gettime: 228,
  clock_getres: 229,
  clock_nanosleep: 230,
  exit_group: 231,
  epoll_wait: 232,
  epoll_ctl: 233,
  set_robust_list: 273,
  epoll_pwait: 281,
  getrandom: 318,
  membarrier: 324,
  rseq: 334,
  epoll_pwait2: 441,
};
/** Calls that are allowed only with some arguments. `clone3` starts threads with arguments that no filter can see. */
const [MADVISE, RECVFROM, CLONE, PRCTL, TGKILL, PRLIMIT64, CLONE3] = [28, 45, 56, 157, 234, 302, 435];

type OwnCall = "write" | "close" | "capset" | "prctl" | "prlimit64" | "seccomp";
/** The numbers of the calls that this code makes, by processor. */
export const CALLS: Readonly<Record<string, Readonly<Record<OwnCall, number>>>> = {
  x64: { write: 1, close: 3, capset: 126, prctl: 157, prlimit64: 302, seccomp: 317 },
  arm64: { write: 64, close: 57, capset: 91, prctl: 167, prlimit64: 261, seccomp: 277 },
};
const AUDIT_ARCH_X86_64 = 0xc000003e;

/** The flags with which the C library starts a thread: glibc's, and musl's, which add CLONE_DETACHED. */
const THREAD_FLAGS = [0x3d0f00, 0x7d0f00];
const [PR_SET_NAME, RLIMIT_DATA] = [15, 2];
/** Advice from this number on makes the kernel treat pages of the machine as broken. */
const MADV_HWPOISON = 100;
const [EPERM, ENOSYS] = [1, 38];
const ALLOW = 0x7fff0000;
const refused = (errno: number): number => 0x00050000 | errno;

// Classic BPF, over struct seccomp_data: the call's number at 0, the processor at 4, the arguments from 16, low words first.
const [LOAD, JUMP_EQUAL, JUMP_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06];
const [NUMBER, PROCESSOR, ARGUMENTS] = [0, 4, 16];

type Step = readonly [code: number, value: number, isTrue?: number, isFalse?: number];
/** A test of an argument: one of these values, or less than this value. */
type Test = readonly [argument: number, oneOf: readonly number[]] | readonly [argument: number, lessThan: number];

/**
 * A filter that refuses all other system calls: files, sockets, processes, other processes' memory. Threads may be made
 * and named, and signalled within the process, as the garbage collector does. The channel may be read, and the limit of
 * data lowered. Undefined for processors other than x64.
 */
export function filterOf(processor: string, process: number): Uint8Array | undefined {
  if (processor !== "x64") return undefined;
  const steps: Step[] = [
    [LOAD, PROCESSOR],
    [JUMP_EQUAL, AUDIT_ARCH_X86_64, 1, 0],
    [RETURN, refused(EPERM)],
    [LOAD, NUMBER],
  ];
  // The numbers of x32 calls have an additional bit, and equal none of these.
  for (const number of Object.values(ALLOWED)) steps.push([JUMP_EQUAL, number, 0, 1], [RETURN, ALLOW]);
  // The C library falls back to `clone`, whose flags can be seen here.
  steps.push([JUMP_EQUAL, CLONE3, 0, 1], [RETURN, refused(ENOSYS)]);
  const only = (number: number, ...tests: readonly Test[]): void => {
    const inner = tests.flatMap(stepsOf);
    steps.push([JUMP_EQUAL, number, 0, inner.length + 1], ...inner, [RETURN, ALLOW]);
  };
  only(CLONE, [0, THREAD_FLAGS]);
  only(PRCTL, [0, [PR_SET_NAME]]);
  only(TGKILL, [0, [process]]);
  only(MADVISE, [2, MADV_HWPOISON]);
  only(RECVFROM, [0, [CHANNEL]]);
  only(PRLIMIT64, [0, [0]], [1, [RLIMIT_DATA]]);
  steps.push([RETURN, refused(EPERM)]);
  return bytesOf(steps);
}

/** Goes on if an argument passes the test, and refuses the call if not. The kernel reads all of these as 32 bits. */
function stepsOf([argument, wanted]: Test): Step[] {
  const load: Step = [LOAD, ARGUMENTS + 8 * argument];
  const refuse: Step = [RETURN, refused(EPERM)];
  if (typeof wanted === "number") return [load, [JUMP_LEAST, wanted, 0, 1], refuse];
  const jumps = wanted.map((value, index): Step => [JUMP_EQUAL, value, wanted.length - index, 0]);
  return [load, ...jumps, refuse];
}

function bytesOf(steps: readonly Step[]): Uint8Array {
  const filter = new Uint8Array(steps.length * 8);
  const view = new DataView(filter.buffer);
  for (const [index, [code, value, isTrue = 0, isFalse = 0]] of steps.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, isTrue);
    view.setUint8(index * 8 + 3, isFalse);
    view.setUint32(index * 8 + 4, value >>> 0, true);
  }
  return filter;
}
