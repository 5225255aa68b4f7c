import { cp, mkdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What `--compare` cannot do, told to whoever asked for it; the program ends with status 2. */
export class CannotCompare extends Error {}

/** A checkout of envoi, as far as a comparison reads it; nothing in it is changed. */
export class Checkout {
  private constructor(readonly root: string) {}

  /** @throws CannotCompare for a folder that is no checkout, such as an installed package. */
  static async open(root: string): Promise<Checkout> {
    const top = await git(root, ["rev-parse", "--show-toplevel"]);
    if (top === undefined || (await realpath(top)) !== (await realpath(root))) {
      throw new CannotCompare(
        "--compare builds revisions, so it needs a checkout of envoi and git: clone it, and run it there.",
      );
    }
    return new Checkout(root);
  }

  /** The hash of the commit that a tag, a branch, or another name stands for. */
  async commitOf(revision: string): Promise<string> {
    const commit = await git(this.root, [
      "rev-parse",
      "--verify",
      "--quiet",
      "--end-of-options",
      `${revision}^{commit}`,
    ]);
    if (commit === undefined) {
      throw new CannotCompare(
        `There is no revision "${revision}" here; \`git tag\` and \`git log --oneline\` list what there is.`,
      );
    }
    return commit;
  }

  /** The commit that is checked out, and whether anything differs from it: `0784f92ab with changes`. */
  async describe(): Promise<string> {
    const head = (await git(this.root, ["rev-parse", "--short=9", "HEAD"])) ?? "no commit";
    return (await git(this.root, ["status", "--porcelain"])) === "" ? head : `${head} with changes`;
  }

  /**
   * Writes the files of a commit into a folder. An index of its own leaves that of the checkout as it is, and there is no
   * worktree to be registered, and to be forgotten there.
   */
  async writeCommit(commit: string, folder: string, index: string): Promise<void> {
    const env = { GIT_INDEX_FILE: index };
    await mkdir(folder, { recursive: true });
    for (const args of [
      ["read-tree", commit],
      ["checkout-index", "--all", `--prefix=${folder}/`],
    ]) {
      if ((await git(this.root, args, env)) === undefined) {
        throw new CannotCompare(`git could not write the files of ${commit}: \`git ${args.join(" ")}\` failed.`);
      }
    }
  }

  /** Copies the working tree into a folder: what is changed, and what is new, as it lies there; nothing that git ignores. */
  async copyTree(folder: string): Promise<void> {
    const list = await git(this.root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    for (const path of new Set(list?.split("\0").filter(Boolean))) {
      const from = join(this.root, path);
      if (!(await Bun.file(from).exists())) continue; // Deleted, and not committed yet.
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await cp(from, join(folder, path));
    }
  }
}

/** What git prints, or undefined when it fails. */
async function git(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  try {
    const child = Bun.spawn(["git", ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
    return status === 0 ? text.trim() : undefined;
  } catch {
    return undefined; // No git here.
  }
}
