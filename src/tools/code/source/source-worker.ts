/** The program of a thread that reads sources. */
import { CodeRefusal } from "../code-refusal";
import type { Language } from "../language";
import { compile } from "./compile";
import { type Errand, LEAVE, type Outcome, type Report } from "./errand";
import { loadParser, type Parse } from "./parser";

declare const self: Worker;

const parsers: Partial<Record<Language, Parse>> = {};

async function read({ code, language, purpose }: Errand): Promise<Outcome> {
  try {
    parsers[language] ??= await loadParser(language);
  } catch (error) {
    if (error instanceof CodeRefusal) return error;
    throw error;
  }
  return compile(parsers[language], code, purpose);
}

self.addEventListener("message", async ({ data }: MessageEvent<Errand | typeof LEAVE>) => {
  if (data === LEAVE) return process.exit(0); // In a thread this ends only the thread.
  const outcome = await read(data);
  if (outcome instanceof CodeRefusal) return self.postMessage({ fault: outcome.error } satisfies Report);
  // Transferred, not copied: there may be a hundred thousand numbers.
  const origins = outcome.origins.map((each) => Int32Array.from(each));
  const report: Report = { reading: { ...outcome, origins } };
  self.postMessage(
    report,
    origins.map(({ buffer }) => buffer),
  );
});
