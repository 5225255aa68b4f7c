import { dlopen, type FFIFunction } from "bun:ffi";

/** Functions of the C library, glibc's or musl's; undefined where they cannot be called, as without FFI. */
export function openLibrary<Symbols extends Record<string, FFIFunction>>(symbols: Symbols) {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`]) {
    try {
      return dlopen(name, symbols).symbols;
    } catch {
      // The other one, or none.
    }
  }
  return undefined;
}
