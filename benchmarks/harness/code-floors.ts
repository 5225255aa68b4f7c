import type { Socket } from "bun";
import { arithmetic } from "./code-samples";
import type { Floor, Prepared } from "./suite";

/** A process of its own for each run. */
export const spawnEach: Floor = {
  name: "a process started for each",
  about:
    "`Bun.spawn` of Bun with the code after `-e` and an empty environment, one after the other, each until its output is read and it has ended",
  setup: (operations) => {
    const program = `console.log(${arithmetic.code})`;
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const child = Bun.spawn({
          cmd: [process.execPath, "--no-install", "--no-env-file", "-e", program],
          cwd: "/",
          env: {},
          stdio: ["ignore", "pipe", "ignore"],
        });
        const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
        if (status === 0 && Number(text) === arithmetic.value) completed++;
      }
    };
    return { run, completed: () => completed };
  },
};

/** As long as an order of a short program. */
const LINE = `${"order ".repeat(40)}\n`;

/** A process that waits on a pair of sockets and writes back what it reads. */
export function startEcho() {
  const child = Bun.spawn({
    cmd: [
      process.execPath,
      "--no-install",
      "--no-env-file",
      Bun.fileURLToPath(new URL("echo-process.ts", import.meta.url)),
    ],
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  let hear = (_back: string) => {};
  let back = "";
  const connected = Bun.connect({
    fd: (child.stdio as readonly unknown[])[3] as number, // The host's descriptor; Bun's types say so of none.
    socket: {
      data: (_: Socket, bytes: Buffer) => {
        back += bytes.toString("utf8");
        if (!back.endsWith("\n")) return;
        const whole = back;
        back = "";
        hear(whole);
      },
    },
    // Bun connects to a descriptor, which its types do not say.
  } as unknown as Parameters<typeof Bun.connect>[0]);
  let socket: Awaited<typeof connected> | undefined;
  return {
    /** Whether the line came back. */
    async echo(): Promise<boolean> {
      socket ??= await connected;
      const { promise, resolve } = Promise.withResolvers<string>();
      hear = resolve;
      socket.write(LINE);
      return (await promise) === LINE;
    },
    async end(): Promise<void> {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** A line to another process and back, over a pair of sockets. */
export const lineThereAndBack: Floor = {
  name: "a line there and back",
  about: "240 bytes over a pair of sockets to a process that waits in `readSync` and writes them back",
  varies: true, // By where the kernel lets the process run.
  setup: (operations): Prepared => {
    const { echo, end } = startEcho();
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) if (await echo()) completed++;
    };
    return { run, completed: () => completed, teardown: end };
  },
};
