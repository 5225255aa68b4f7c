import { Bash, ReadWriteFs } from "just-bash";
import type { FilePeer } from "../../files";

export async function open(folder: string): Promise<FilePeer> {
  // Bun lacks the internals that its defence against escapes of JavaScript patches. Its file system is the same without it.
  const bash = new Bash({ fs: new ReadWriteFs({ root: folder }), cwd: "/", defenseInDepth: false });
  const run = async (script: string, stdin?: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await bash.exec(script, stdin === undefined ? {} : { stdin });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  };
  return {
    read: (path) => run(`cat '${path}'`),
    async write(path, content) {
      await run(`cat > '${path}'`, content);
    },
    async edit(path, oldText, newText) {
      await run(`sed -i 's/${oldText}/${newText}/' '${path}'`);
    },
    async list(path) {
      return (await run(`ls -1 '${path || "."}'`)).trimEnd().split("\n").length;
    },
    async search(text) {
      return (await run(`grep -rF '${text}' .`)).trimEnd().split("\n").length;
    },
  };
}
