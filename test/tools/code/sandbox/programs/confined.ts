/** Confines itself, as a process of the sandbox does, and tries what code that broke out of the interpreter would. */
import { dlopen, ptr } from "bun:ffi";
import { writeSync } from "node:fs";
import { confine } from "../../../../../src/tools/code/pool/confine";

const { symbols: libc } = dlopen("libc.so.6", {
  open: { args: ["ptr", "i32"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  fork: { args: [], returns: "i32" },
  kill: { args: ["i32", "i32"], returns: "i32" },
  execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
  ptrace: { args: ["i32", "i32", "ptr", "ptr"], returns: "i64" },
  memfd_create: { args: ["ptr", "u32"], returns: "i32" },
  prctl: { args: ["i32", "i32"], returns: "i32" },
  syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" },
  pthread_create: { args: ["ptr", "ptr", "ptr", "ptr"], returns: "i32" },
});
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const tries: Record<string, () => number | bigint> = {
  "read a file": () => libc.open(text("/etc/passwd"), 0),
  "read its own memory": () => libc.open(text("/proc/self/mem"), 2),
  "write a file": () => libc.open(text("/dev/null"), 1),
  "open by another call": () => libc.syscall(437, -100, 0, 0, 0, 0),
  "open a socket": () => libc.socket(2, 1, 0),
  "open a local socket": () => libc.socket(1, 1, 0),
  fork: () => libc.fork(),
  "clone a process": () => libc.syscall(56, 17, 0, 0, 0, 0),
  "clone a thread that shares no folder": () => libc.syscall(56, 0x3d0d00, 0, 0, 0, 0),
  "take pages for broken": () => libc.syscall(28, 0, 0, 100, 0, 0),
  "receive from what is not its channel": () => libc.syscall(45, 0, 0, 0, 0, 0),
  "raise what it may open": () => libc.syscall(302, 0, 7, ptr(new BigUint64Array([999n, 999n])), 0, 0),
  "bound its parent": () => libc.syscall(302, process.ppid, 2, 0, 0, 0),
  execute: () => libc.execve(text("/bin/true"), Buffer.alloc(8), Buffer.alloc(8)),
  "signal the parent": () => libc.kill(process.ppid, 0),
  "signal a thread of the parent": () => libc.syscall(234, process.ppid, process.ppid, 0, 0, 0),
  "trace the parent": () => libc.ptrace(16, process.ppid, null, null),
  "use io_uring": () => libc.syscall(425, 1, 0, 0, 0, 0),
  "make a file of memory": () => libc.memfd_create(text("x"), 0),
  "undo what ends it with its parent": () => libc.prctl(1, 0),
};
const held = confine();
const done = Object.entries(tries)
  .filter(([, attempt]) => attempt() >= 0)
  .map(([name]) => name);
// It still can what it needs: memory, time, its own signals.
const numbers = new Float64Array(1e6).fill(performance.now());
Bun.gc(true);
writeSync(1, JSON.stringify({ held, done, works: numbers.length }));
process.exit(0);
