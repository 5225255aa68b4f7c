/** A code block of a Markdown page, with what the page says that it prints. */
export interface Block {
  /** The line of its first fence, from 1. */
  readonly line: number;
  /** The heading that it stands under. */
  readonly heading: string;
  readonly code: string;
  /** The name of the file that it is, from a first line such as `// service.ts`: other blocks of the page import it. */
  readonly file: string | undefined;
  /** The `text` block that comes next, if the next block is one; `…` in it stands for anything within a line. */
  readonly output: string | undefined;
}

/** The `ts` blocks of a Markdown page. */
export function blocksOf(markdown: string): Block[] {
  const fences: { line: number; heading: string; language: string; text: string[] }[] = [];
  let heading = "";
  let open: (typeof fences)[number] | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (open) {
      if (line.startsWith("```")) open = undefined;
      else open.text.push(line);
    } else if (line.startsWith("```")) {
      open = { line: index + 1, heading, language: line.slice(3).trim(), text: [] };
      fences.push(open);
    } else if (line.startsWith("#")) {
      heading = line.replace(/^#+\s*/, "");
    }
  }
  return fences.flatMap(({ line, heading, language, text }, index) => {
    if (!["ts", "typescript"].includes(language)) return [];
    const next = fences[index + 1];
    const output = next?.language === "text" && next.heading === heading ? next.text.join("\n").trim() : undefined;
    const [, file] = /^\/\/ ([\w-]+(?:\.test)?\.ts)$/.exec(text[0] ?? "") ?? [];
    return [{ line, heading, code: `${text.join("\n")}\n`, file, output }];
  });
}

/** What `…` stands for in the expected output is copied from the actual one, so that a test can compare them whole. */
export function fill(expected: string, actual: string): string {
  const actualLines = actual.trim().split("\n");
  return expected
    .split("\n")
    .map((line, index) => {
      const pattern = line.split("…").map(RegExp.escape).join(".*");
      const actualLine = actualLines[index] ?? "";
      return line.includes("…") && new RegExp(`^${pattern}$`).test(actualLine) ? actualLine : line;
    })
    .join("\n");
}

/** Runs a script with this Bun; it must end by itself. */
export async function runScript(
  cwd: string,
  ...args: string[]
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 200_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { exitCode, stdout, stderr };
}
