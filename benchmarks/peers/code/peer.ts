import { type Candidate, named, openSubject } from "../room";

/** The limits that each candidate is given, where it has them. */
export const LIMITS = {
  /** Milliseconds. */
  timeout: 500,
  /** Bytes. */
  memory: 64_000_000,
} as const;

/** What came of code. */
export interface Ran {
  readonly value: unknown;
  /** How many entries of its log came with it; undefined where they go elsewhere. */
  readonly logs?: number;
}

/** A tool that runs code, as its users call it. */
export interface CodePeer {
  /** Runs the body of an async function of `tools` and `console`; what it throws, or what ends it, is thrown. */
  run(code: string): Promise<Ran>;
  /** How code calls a tool that adds 1 to the `n` of its argument; left out where it has none. */
  readonly call?: string;
  close(): Promise<void>;
}

/** Each module in `subjects/code/` exports `open()`, which gives a `CodePeer` within `LIMITS`. */
export const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    module: "envoi.ts",
    packages: [],
    how: "the code actor of this repository as it is by default, `sandbox`, asked through its reference: QuickJS in pooled processes",
  },
  {
    name: "envoi, process",
    module: "envoi-process.ts",
    packages: [],
    how: "the same in its tier `process`: JavaScriptCore, a process for each run, which the kernel keeps from the machine",
  },
  {
    name: "AI SDK",
    module: "ai-sdk.ts",
    packages: ["@ai-sdk/code-mode"],
    how: "its `experimental_runCodeMode`, QuickJS in worker threads that it keeps; logs go to the process's own output",
  },
  {
    name: "pi",
    module: "pi.ts",
    packages: ["@earendil-works/pi-codemode"],
    how: "its `CodemodeSandbox`, one for all runs; QuickJS in a worker thread of its own for each",
  },
  {
    name: "quickjs",
    module: "quickjs.ts",
    packages: ["@sebastianwessel/quickjs", "@jitl/quickjs-ng-wasmfile-release-sync"],
    how: "its `runSandboxed` of a module loaded once, with a console and tools of the host; QuickJS on the caller's own thread",
  },
];

/** Opens a candidate; what keeps it from starting is thrown. */
export async function openPeer(name: string): Promise<CodePeer> {
  return openSubject("code", named(candidates, name));
}
