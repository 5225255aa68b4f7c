import { dlopen, type FFIFunction } from "bun:ffi";

/** Opens functions of the C library (glibc or musl). Returns undefined where that fails, for example without FFI. */
export function openLibrary<Symbols extends Record<string, FFIFunction>>(symbols: Symbols) {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`]) {
    try {
      return dlopen(name, symbols).symbols;
    } catch {
      // This library is not here: try the next one.
    }
  }
  return undefined;
}
