import { join } from "node:path";
import type { GatewayOptions } from "envoi/http";

type PartMaker = NonNullable<GatewayOptions["parts"]>[number];

/** The page's own code, and nobody else's. Its styles are in it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page of the service: one document, and one module with the client of envoi/http/client in it. */
export async function pageOf(): Promise<PartMaker> {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "page/main.ts")],
    target: "browser",
    minify: true,
  });
  const script = (await built.outputs[0]?.text()) ?? "";
  const html = await Bun.file(join(import.meta.dir, "page/index.html")).text();
  const answering = (text: string, type: string) => () =>
    new Response(text, {
      headers: {
        "content-type": `${type}; charset=utf-8`,
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "cache-control": "no-cache",
      },
    });
  return () => ({
    routes: [
      { method: "GET", path: "/", isOpen: true, handle: answering(html, "text/html") },
      { method: "GET", path: "/main.js", isOpen: true, handle: answering(script, "text/javascript") },
    ],
  });
}
