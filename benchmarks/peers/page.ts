import { renderActors } from "./actors/page";
import { actorPeerResults } from "./actors/results";
import { renderCode } from "./code/page";
import { codePeerResults } from "./code/results";
import { renderFiles } from "./files/page";
import { filePeerResults } from "./files/results";
import { kept, RESULTS } from "./results-file";

const HEAD = `# Beside other libraries and tools

Written by \`bun run bench:peers\` from \`benchmarks/results/peers-*.json\`; no figure here is typed by hand. What is measured, and how,
is in [README.md](README.md).`;

/** What was measured last of each room, as far as it was. */
export async function readPeers(folder: string = RESULTS) {
  return {
    actors: await kept(folder, "actors", actorPeerResults),
    files: await kept(folder, "files", filePeerResults),
    code: await kept(folder, "code", codePeerResults),
  };
}

/** The whole of RESULTS.md, from the results alone. */
export function renderPeers({ actors, files, code }: Awaited<ReturnType<typeof readPeers>>): string {
  const parts = [HEAD, actors && renderActors(actors), files && renderFiles(files), code && renderCode(code)];
  return `${parts.filter((part) => part !== undefined).join("\n\n")}\n`;
}
