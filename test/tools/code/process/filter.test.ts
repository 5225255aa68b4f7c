import { describe, expect, test } from "bun:test";
import { filterOf } from "../../../../src/tools/code/pool/system-calls";

const X64 = 0xc000003e;
const PROCESS = 4711;
const filter = filterOf("x64", PROCESS) ?? new Uint8Array();

/** The kernel's decision on a call, by the rules of classic BPF: "allow", or the error that it returns. */
function verdict(number: number, args: readonly number[] = [], processor = X64): string {
  const view = new DataView(filter.buffer);
  const data = new Map<number, number>([
    [0, number],
    [4, processor],
  ]);
  for (let index = 0; index < 6; index++) data.set(16 + 8 * index, (args[index] ?? 0) >>> 0);
  let held = 0;
  for (let at = 0; at < filter.length; ) {
    const [code, value] = [view.getUint16(at, true), view.getUint32(at + 4, true)];
    const jump = (isTrue: boolean): number => 8 * (1 + view.getUint8(at + (isTrue ? 2 : 3)));
    if (code === 0x06) return value === 0x7fff0000 ? "allow" : `error ${value & 0xffff}`;
    if (code === 0x20) held = data.get(value) ?? Number.NaN;
    at += code === 0x15 ? jump(held === value) : code === 0x35 ? jump(held >= value) : 8;
  }
  return "none";
}

describe("Process: the filter of system calls", () => {
  test("allows what the engine cannot be without, and 50 calls at most", () => {
    for (const number of [0, 1, 3, 9, 11, 39, 60, 202, 228, 231, 441]) expect(verdict(number)).toBe("allow");
    const allowed = Array.from({ length: 600 }, (_, number) => number).filter((number) => verdict(number) === "allow");
    expect(allowed.length).toBeLessThan(50);
    // Files, sockets, processes, signals, limits, modules of the kernel.
    for (const number of [
      2, 41, 42, 44, 46, 47, 49, 53, 57, 58, 59, 62, 101, 160, 165, 175, 257, 310, 317, 321, 425, 437,
    ]) {
      expect(verdict(number)).toBe("error 1");
    }
  });

  test("tells no other kind of processor's calls, nor the x32 ones, from what is refused", () => {
    for (const number of [0, 1, 2, 3, 11, 39]) {
      expect(verdict(number, [], 0x40000003)).toBe("error 1");
      expect(verdict(number, [], 0xc00000b7)).toBe("error 1");
      expect(verdict(number + 0x40000000)).toBe("error 1");
    }
  });

  test("lets threads be made as the C library makes them, and no process or namespace", () => {
    expect(verdict(435)).toBe("error 38"); // Which has the C library fall back to the one below.
    for (const flags of [0x3d0f00, 0x7d0f00]) expect(verdict(56, [flags])).toBe("allow");
    for (const flags of [0, 17, 0x4111, 0x3c0f00, 0x3f0f00, 0x103d0f00, 0x3d0f01])
      expect(verdict(56, [flags])).toBe("error 1");
  });

  test("looks at the arguments of what may be used in one way only", () => {
    const cases: [number, number[], number[]][] = [
      [157, [15, 1], [1, 9]], // Naming a thread; outliving the parent.
      [234, [PROCESS, 5, 34], [PROCESS + 1, 5, 34]], // Signals to its own threads.
      [28, [0, 4096, 4], [0, 4096, 100]], // Advice; advice that breaks pages.
      [45, [3], [4]], // Its channel; another one.
      [302, [0, 2, 1], [0, 7, 1]], // The limit of data; that of descriptors.
      [302, [0, 2, 1], [1, 2, 1]], // Its own; that of another process.
    ];
    for (const [number, good, bad] of cases) {
      expect([number, verdict(number, good)]).toEqual([number, "allow"]);
      expect([number, verdict(number, bad)]).toEqual([number, "error 1"]);
    }
    for (const advice of [101, 2 ** 31, -1]) expect(verdict(28, [0, 4096, advice])).toBe("error 1");
  });

  test("is there for processors whose calls are known", () => {
    expect(filterOf("arm64", PROCESS)).toBeUndefined();
  });
});
