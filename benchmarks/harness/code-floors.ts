import type { Socket } from "bun";

export type Sample = { readonly code: string; readonly value: number | string; readonly logs: number };

const sample = (code: string, value: Sample["value"], logs = 0): Sample => ({ code, value, logs });

/** What the rows about code run, and their floors: the same for both. */
export const arithmetic = sample("(2 + 3) * 4 - 6 / 3", 18);
export const array = sample(
  "[1, 2, 3, 4, 5].map((n) => n * 2).filter((n) => n > 2).reduce((sum, n) => sum + n, 0)",
  28,
);
export const text = sample(
  'const words = "the quick brown fox".split(" ");\nwords.map((word) => word[0].toUpperCase() + word.slice(1)).join(" ")',
  "The Quick Brown Fox",
);
export const json = sample(
  'const order = JSON.parse(\'{"items":[{"price":2,"count":3},{"price":5,"count":1}]}\');\n' +
    "JSON.stringify({ total: order.items.reduce((sum, { price, count }) => sum + price * count, 0) })",
  '{"total":11}',
);
export const loop = sample("let sum = 0;\nfor (let i = 1; i <= 100; i++) sum += i;\nsum", 5050);
export const output = sample('console.log("Hello");\n42', 42, 1);

const BUN = [process.execPath, "--no-install", "--no-env-file"];

export async function runInBareProcess(): Promise<boolean> {
  const child = Bun.spawn({
    cmd: [...BUN, "-e", `console.log(${arithmetic.code})`],
    cwd: "/",
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [printed, status] = await Promise.all([child.stdout.text(), child.exited]);
  return status === 0 && Number(printed) === arithmetic.value;
}

const LINE = `${"order ".repeat(40)}\n`;

/** A process that waits on a pair of sockets and writes back what it reads. */
export function startEcho() {
  const child = Bun.spawn({
    cmd: [...BUN, Bun.fileURLToPath(new URL("echo-process.ts", import.meta.url))],
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  let hear = (_back: string) => {};
  let back = "";
  const connected = Bun.connect({
    fd: (child.stdio as readonly unknown[])[3] as number, // The host's descriptor, of which Bun's types do not tell.
    socket: {
      data: (_: Socket, bytes: Buffer) => {
        back += bytes.toString("utf8");
        if (!back.endsWith("\n")) return;
        const whole = back;
        back = "";
        hear(whole);
      },
    },
  } as unknown as Parameters<typeof Bun.connect>[0]);
  let socket: Awaited<typeof connected> | undefined;
  return {
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
