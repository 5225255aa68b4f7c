import { type Machine, thisMachine } from "../../../../src/tools/files/root/open-root";

// The part of `ways.ts` for programs. They are started by the dozen, so they load little.

export const WITHOUT_FFI = "proc-fd without FFI";

/** The machine that this way of opening a root needs. */
export const machineOf = (way: string): Machine =>
  way === WITHOUT_FFI ? { ...thisMachine(), libc: undefined } : thisMachine();

/** The option `resolution` of `openRoot` for a way on the disk. */
export const resolutionOf = (way: string): "openat2" | "proc-fd" => (way === "openat2" ? way : "proc-fd");
