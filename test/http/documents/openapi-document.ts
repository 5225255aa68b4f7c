import type { Gateway } from "../../../src/http/index";

export type Json = { readonly [key: string]: Json };

export const documentOf = async (gateway: Gateway, base = ""): Promise<Json> =>
  (await gateway.fetch(new Request(`http://x${base}/openapi.json`))).json() as Promise<Json>;

export const statusesOf = ({ paths }: Json, path: string, method: string): number[] =>
  Object.keys(paths?.[path]?.[method]?.["responses"] ?? {}).map(Number);
