import { refuse } from "../file-error";
import type { Workspace } from "../workspace";

/** Refuses more bytes than one request may write. */
export function expectWritable({ limits }: Workspace, bytes: number, given: string): void {
  if (bytes <= limits.maxWriteBytes) return;
  const most = limits.maxWriteBytes;
  refuse(
    "too-large",
    given,
    `${bytes} bytes for ${JSON.stringify(given)} are more than this actor writes for one request, which is ${most} (its maxWriteBytes).`,
  );
}
