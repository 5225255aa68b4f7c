import type { Clock, Factory, SignaturesOf } from "../../index";
import { change as changeAll, pathsOfChange } from "./change/change";
import { edit } from "./edit/edit";
import { type FileError, FileRefusal, ROOT_IS_GONE } from "./file-error";
import type { FileSystemOptions, Limits } from "./options";
import { Order, overlap } from "./order";
import { parsePath } from "./path";
import { FileStreams, type FileSystem, type Inspection } from "./protocol";
import { read } from "./read";
import { readMany } from "./read-many";
import { readStream } from "./read-stream";
import type { Change } from "./requests/several";
import { openRoot } from "./root/open-root";
import { Rules } from "./rules";
import { search } from "./search/search";
import { copy } from "./tree/copy";
import { remove } from "./tree/delete";
import { list } from "./tree/list";
import { makeDirectory } from "./tree/make-directory";
import { move } from "./tree/move";
import { exists, stat } from "./tree/stat";
import { countAll } from "./tree/tree";
import { watch } from "./watch/watch";
import { type Task, Workspace } from "./workspace";
import { withManyParents } from "./write/many-parents";
import { openQuota } from "./write/open-quota";
import { Staging } from "./write/staging";
import { type ClosedUpload, Uploads } from "./write/uploads";
import { append, write } from "./write/write";
import { WriteLock } from "./write/write-lock";

type Signatures = SignaturesOf<typeof FileSystem>;
type Told<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: FileError };

/** Makes the handlers of a file actor. */
export function factoryOf(options: FileSystemOptions, limits: Limits): Factory<Signatures> {
  return (ctx) => {
    const workspace = openWorkspace(options, limits, ctx.clock);
    const uploads = new Uploads(workspace, ctx.timers);
    // Streams last as long as their readers, and watches as long as their programs. Separate actors keep them from
    // holding up the requests and each other.
    const { concurrency } = limits;
    const streams = ctx.spawn("streams", FileStreams, streamsOf(workspace), { concurrency });
    const watches = ctx.spawn("watches", FileStreams, streamsOf(workspace), { concurrency });
    const { look, change } = handling(ctx, workspace);
    const counting = <Request, Value>(
      paths: Paths<NoInfer<Request>>,
      work: (request: Request) => Value | Promise<Value>,
    ) => counted(workspace, ctx, paths, work);
    const making = <Request, Value>(
      paths: Paths<NoInfer<Request>>,
      path: (request: NoInfer<Request>) => string,
      work: (request: Request) => Value | Promise<Value>,
    ) => counting<Request, Value>(paths, withManyParents(workspace, ctx, path, work));
    const finish = change(onePath, (upload: ClosedUpload) => uploads.finish(upload));
    return {
      read: look(onePath, (request) => read(workspace, request, ctx)),
      readMany: look(readPaths, (request) => readMany(workspace, request, ctx)),
      write: change(
        onePath,
        making(onePath, pathOf, (request) => write(workspace, request, ctx)),
      ),
      append: change(
        onePath,
        making(onePath, pathOf, (request) => append(workspace, request, ctx)),
      ),
      change: change(
        changePaths,
        counting(changePaths, (request) => changeAll(workspace, request, ctx)),
      ),
      edit: change(onePath, (request) => edit(workspace, request, ctx)),
      list: look(onePath, (request) => list(workspace, request, ctx)),
      stat: look(onePath, (request) => stat(workspace, request)),
      exists: look(onePath, (request) => exists(workspace, request)),
      mkdir: change(
        onePath,
        making(onePath, pathOf, (request) => makeDirectory(workspace, request)),
      ),
      move: change(
        bothPaths,
        making(bothPaths, newPathOf, (request) => move(workspace, request, ctx)),
      ),
      copy: change(
        bothPaths,
        making(bothPaths, newPathOf, (request) => copy(workspace, request, ctx)),
      ),
      delete: change(onePath, (request) => remove(workspace, request, ctx)),
      search: () => ctx.forward(streams),
      readStream: () => ctx.forward(streams),
      watch: () => ctx.forward(watches),
      beginWrite: look(
        onePath,
        making(onePath, pathOf, (request) => uploads.begin(request)),
      ),
      // No other request can see an upload before it is finished, so nothing has to wait for it.
      writeChunk: atOnce(workspace, (request) => uploads.write(request, ctx)),
      finishWrite: (request) => orRefused(() => finish(uploads.close(request)), request, workspace),
      abortWrite: atOnce(workspace, (request) => uploads.abort(request)),
      inspect: () => ({ ok: true, value: inspectionOf(workspace, uploads) }),
      onStop() {
        uploads.dispose();
        workspace.dispose();
      },
    };
  };
}

function streamsOf(workspace: Workspace): Factory<SignaturesOf<typeof FileStreams>> {
  return (ctx) => ({
    search: (request) => told(ctx, workspace, (task) => search(workspace, request, task)),
    readStream: (request) => told(ctx, workspace, () => readStream(workspace, request)),
    watch: (request) => told(ctx, workspace, (task) => watch(workspace, request, task)),
  });
}

function openWorkspace(options: FileSystemOptions, limits: Limits, clock: Clock): Workspace {
  const root = openRoot(options, clock);
  const staging = new Staging(root);
  if (!limits.readOnly) staging.sweep();
  const workspace: Workspace = new Workspace({
    root,
    staging,
    limits,
    rules: new Rules(options),
    lock: new WriteLock(staging, clock),
    quota: openQuota(options, limits, root, () => countAll(workspace, null)),
    clock,
  });
  return workspace;
}

/** For work that may make directories. If their number is bounded and little room is left, it counts again first. */
function counted<Request, Value>(
  { quota }: Workspace,
  task: Task,
  paths: Paths<NoInfer<Request>>,
  work: (request: Request) => Value | Promise<Value>,
): (request: Request) => Value | Promise<Value> {
  if (quota?.boundsFiles !== true) return work;
  return (request) => {
    const most = paths(request).reduce((sum, whole) => sum + whole.split("/").length, 0);
    if (quota.fits(0, most)) return work(request);
    const { signal } = task;
    return quota.countFor(0, most).then(() => {
      signal.throwIfAborted();
      return work(request);
    });
  };
}

function inspectionOf({ root, limits, quota }: Workspace, uploads: Uploads): Inspection {
  const { readOnly, maxReadBytes, maxWriteBytes, maxEntries, quotaBytes, quotaFiles } = limits;
  const used = quota?.used ?? null;
  return {
    resolution: root.resolution,
    readOnly,
    limits: {
      maxReadBytes,
      maxWriteBytes,
      maxEntries,
      ...(quotaBytes !== undefined && { quotaBytes }),
      ...(quotaFiles !== undefined && { quotaFiles }),
    },
    ...(used !== null && { usedBytes: used.bytes, usedFiles: used.files }),
    uploads: uploads.count,
  };
}

/** Makes handlers of operations. A refusal becomes a reply, and requests for one path keep their order. */
function handling(task: Task, workspace: Workspace) {
  const order = new Order();
  const perform = <Request, Value>(
    paths: Paths<NoInfer<Request>>,
    work: (request: Request) => Value | Promise<Value>,
    isChange: boolean,
  ): ((request: Request) => Told<Value> | Promise<Told<Value>>) => {
    const inOrder = async (request: Request): Promise<Value> => {
      const { signal } = task;
      await order.before(paths(request));
      signal.throwIfAborted();
      return work(request);
    };
    return (request) => {
      try {
        const value = order.isBusy ? inOrder(request) : work(request);
        if (!(value instanceof Promise)) return { ok: true, value };
        const told = value.then(tell, (thrown) => refused(thrown, request, workspace));
        if (isChange) order.note(paths(request), told);
        return told;
      } catch (thrown) {
        return refused(thrown, request, workspace);
      }
    };
  };
  return {
    /** For operations that change nothing. */
    look: <Request, Value>(paths: Paths<NoInfer<Request>>, work: (request: Request) => Value | Promise<Value>) =>
      perform(paths, work, false),
    /** For operations that later requests for the same paths wait for. */
    change: <Request, Value>(paths: Paths<NoInfer<Request>>, work: (request: Request) => Value | Promise<Value>) =>
      perform(paths, work, true),
  };
}

/** Makes a handler that waits for no other request. */
function atOnce<Request, Value>(workspace: Workspace, work: (request: Request) => Value | Promise<Value>) {
  return (request: Request) =>
    orRefused(
      (): Told<Value> | Promise<Told<Value>> => {
        const value = work(request);
        return value instanceof Promise
          ? value.then(tell, (thrown) => refused(thrown, request, workspace))
          : tell(value);
      },
      request,
      workspace,
    );
}

function orRefused<Reply>(
  work: () => Reply,
  request: unknown,
  workspace: Workspace,
): Reply | ReturnType<typeof refused> {
  try {
    return work();
  } catch (thrown) {
    return refused(thrown, request, workspace);
  }
}

/** The items of a stream. A refusal becomes the last item. */
function told<Item>(
  { signal }: Task,
  workspace: Workspace,
  begin: (task: Task) => AsyncGenerator<Item>,
): AsyncGenerator<Told<Item>> {
  // Read here, because a generator's body runs after its handler has returned.
  return itemsOf(workspace, () => begin({ signal }));
}

async function* itemsOf<Item>(workspace: Workspace, begin: () => AsyncGenerator<Item>): AsyncGenerator<Told<Item>> {
  try {
    for await (const value of begin()) yield { ok: true, value };
  } catch (thrown) {
    yield refused(thrown, null, workspace);
  }
}

const tell = <Value>(value: Value): Told<Value> => ({ ok: true, value });

function refused(
  thrown: unknown,
  request: unknown,
  workspace: Workspace,
): { readonly ok: false; readonly error: FileError } {
  if (thrown instanceof FileRefusal) {
    const { error } = thrown;
    const isGone = error.kind === "not-found" && workspace.isGone;
    return { ok: false, error: isGone ? { ...error, message: ROOT_IS_GONE } : error };
  }
  if (!(thrown instanceof DOMException && thrown.name === "AbortError")) throw thrown;
  // The asker still waits and needs more than a failed handling. Work under way ends with the actor.
  const { path, from } = (request ?? {}) as { path?: string; from?: string };
  const message = "The file actor was stopped before this was done; look at what is there, and ask again.";
  return { ok: false, error: { kind: "io", path: path ?? from ?? "", message } };
}

/** Gives the paths in the declared fields of a request. Undeclared fields are ignored. */
type Paths<Request> = (request: Request) => string[];

/** The path of the request, or the root if it has none. */
const onePath = ({ path }: { readonly path?: string | undefined }): string[] => [parsePath(path ?? "").whole];

const bothPaths = ({ from, to }: { readonly from: string; readonly to: string }): string[] => [
  parsePath(from).whole,
  parsePath(to).whole,
];

interface MayMake {
  readonly parents?: boolean | undefined;
}

/** The path whose missing parent directories a request makes. Empty if it makes none. */
const pathOf = ({ path, parents }: { readonly path: string } & MayMake): string => (parents === false ? "" : path);

/** The same for a move or a copy. One into itself is refused, and nothing is made for it. */
const newPathOf = ({ from, to, parents }: { readonly from: string; readonly to: string } & MayMake): string =>
  parents === false || overlap(parsePath(from).whole, parsePath(to).whole) ? "" : to;

const readPaths = ({ reads }: { readonly reads: readonly { readonly path: unknown }[] }): string[] =>
  reads.flatMap(({ path }) => pathsIn(path));

const changePaths = ({ changes }: { readonly changes: readonly Change[] }): string[] =>
  changes.flatMap(pathsOfChange).map((each) => parsePath(each).whole);

/** The path of one of several reads. Empty for an invalid path, which that read is refused for. */
function pathsIn(path: unknown): string[] {
  try {
    return [parsePath(path).whole];
  } catch {
    return [];
  }
}
