/** System calls of x64 that a process needs once all is loaded: memory, threads, time, its channel, its end. */
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
  madvise: 28,
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
const [CLONE, CLONE3, PRCTL, TGKILL] = [56, 435, 157, 234];
const AUDIT_ARCH_X86_64 = 0xc000003e;
const [CLONE_THREAD, PR_SET_NAME] = [0x10000, 15];
const [EPERM, ENOSYS] = [1, 38];
const ALLOW = 0x7fff0000;
const refused = (errno: number): number => 0x00050000 | errno;

// Classic BPF, over struct seccomp_data: the call's number at 0, the processor at 4, the arguments from 16.
const [LOAD, JUMP_EQUAL, JUMP_SET, RETURN] = [0x20, 0x15, 0x45, 0x06];
const [NUMBER, PROCESSOR, ARGUMENT] = [0, 4, 16];

/**
 * A filter that refuses all other system calls: files, sockets, processes, other processes' memory. Threads may be made
 * and named, and signalled within the process, which the garbage collector does. Undefined for other processors.
 */
export function filterOf(processor: string, process: number): Uint8Array | undefined {
  if (processor !== "x64") return undefined;
  const steps: (readonly [code: number, value: number, isTrue?: number, isFalse?: number])[] = [
    [LOAD, PROCESSOR],
    [JUMP_EQUAL, AUDIT_ARCH_X86_64, 1, 0],
    [RETURN, refused(EPERM)],
    [LOAD, NUMBER],
  ];
  // Numbers of the x32 calls have a bit more, and equal none of these.
  for (const number of Object.values(ALLOWED)) steps.push([JUMP_EQUAL, number, 0, 1], [RETURN, ALLOW]);
  // The C library falls back to `clone`, whose flags can be seen here.
  steps.push([JUMP_EQUAL, CLONE3, 0, 1], [RETURN, refused(ENOSYS)]);
  const only = (number: number, jump: number, value: number): void => {
    steps.push([JUMP_EQUAL, number, 0, 4], [LOAD, ARGUMENT], [jump, value, 0, 1], [RETURN, ALLOW]);
    steps.push([RETURN, refused(EPERM)]);
  };
  only(CLONE, JUMP_SET, CLONE_THREAD);
  only(PRCTL, JUMP_EQUAL, PR_SET_NAME);
  only(TGKILL, JUMP_EQUAL, process);
  steps.push([RETURN, refused(EPERM)]);
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
