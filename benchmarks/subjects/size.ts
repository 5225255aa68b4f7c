import { join } from "node:path";
import type { Readings } from "../harness/suite";
import { installation } from "./installation";

/** What a bundle leaves to be imported: optional peers, also as they are packed for it; and then all that is not envoi's own. */
const PEERS = /^(\.\/embedded\.js|acorn|@sveltejs\/acorn-typescript|@jitl\/.*)$/;
const OTHERS = new RegExp(`${PEERS.source}|^neverthrow$|^\\./typebox[^/]*$`);

/** The kilobytes that an entry of the built package adds to a bundle that uses all of it, made small by Bun's bundler. */
export async function sizeOf(entry: "index" | "tools"): Promise<Readings> {
  const whole = await bundle(entry, PEERS);
  const own = await bundle(entry, OTHERS);
  return {
    minified: whole.length / 1_000,
    gzip: Bun.gzipSync(whole, { level: 9 }).length / 1_000,
    "minified, our own": own.length / 1_000,
    "gzip, our own": Bun.gzipSync(own, { level: 9 }).length / 1_000,
  };
}

async function bundle(entry: string, external: RegExp): Promise<Uint8Array<ArrayBuffer>> {
  const { outputs } = await Bun.build({
    entrypoints: [join(await installation(), `node_modules/envoi/dist/${entry}.js`)],
    target: "bun",
    minify: true,
    plugins: [
      {
        name: "external",
        setup: (build) => void build.onResolve({ filter: external }, ({ path }) => ({ path, external: true })),
      },
    ],
  });
  const [output, more] = outputs;
  if (output === undefined || more !== undefined) throw new Error(`${outputs.length} files came of ${entry}.js`);
  return new Uint8Array(await output.arrayBuffer());
}
