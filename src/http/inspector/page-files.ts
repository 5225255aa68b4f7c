import { createHash } from "node:crypto";
import { pageTexts } from "./page-texts";

/** One file that the inspector serves. */
export interface Asset {
  readonly text: string;
  readonly type: string;
  readonly etag: string;
}

/** The page, and the files that it loads, by name. The name of a file changes with its content. */
export interface Page {
  readonly html: Asset;
  readonly assets: ReadonlyMap<string, Asset>;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const assetOf = (text: string, type: string): Asset => ({ text, type, etag: `"${hashOf(text)}"` });

/** @param credentials the headers that callers send credentials in: the page asks for one of them. */
export async function loadPage(credentials: readonly string[]): Promise<Page> {
  const { html, script, style, icon } = await pageTexts();
  const names = {
    script: `page-${hashOf(script)}.js`,
    style: `page-${hashOf(style)}.css`,
    icon: `icon-${hashOf(icon)}.svg`,
  };
  const text = html
    .replace("{script}", names.script)
    .replace("{style}", names.style)
    .replace("{icon}", names.icon)
    // Names of headers, without letters that mean something in HTML.
    .replace("{credentials}", credentials.filter((name) => /^[\w-]+$/.test(name)).join(" "));
  return {
    html: assetOf(text, "text/html; charset=utf-8"),
    assets: new Map([
      [names.script, assetOf(script, "text/javascript; charset=utf-8")],
      [names.style, assetOf(style, "text/css; charset=utf-8")],
      [names.icon, assetOf(icon, "image/svg+xml")],
    ]),
  };
}
