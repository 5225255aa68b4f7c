import { systemClock } from "../../../src";
import { type FileSystemOptions, limitsOf } from "../../../src/tools/files/options";
import type { Root } from "../../../src/tools/files/root/root";
import { Rules } from "../../../src/tools/files/rules";
import { Workspace } from "../../../src/tools/files/workspace";

/** A root with some of its calls replaced, for what others do in the midst of an operation. */
export function intercept(root: Root, calls: Partial<Root>): Root {
  return new Proxy(root, {
    get(target, key) {
      const value: unknown = Reflect.get(Reflect.has(calls, key) ? calls : target, key);
      return typeof value === "function" ? value.bind(Reflect.has(calls, key) ? calls : target) : value;
    },
  });
}

/** A workspace for operations on trees, without its actor; `time` is what its clock says. */
export function workspaceOver(
  root: Root,
  options: Partial<FileSystemOptions> = {},
  time: () => number = () => 0,
): Workspace {
  const free = { tryAcquire: () => true, release: () => {} };
  return new Workspace({
    root,
    rules: new Rules(options),
    limits: limitsOf({ root: "any", ...options }),
    quota: null,
    clock: { ...systemClock, monotonicTime: time },
    staging: undefined as never, // It is not used by these operations.
    lock: free as never, // Nobody else is there.
  });
}

/** A task that nobody gives up. */
export const lasting = { signal: new AbortController().signal };
