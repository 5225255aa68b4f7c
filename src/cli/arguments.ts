import { type ParseArgsConfig, parseArgs } from "node:util";

/** The command line is wrong, or a file cannot be read. Its sentence is all that is told. */
export class UsageError extends Error {}

export const flag = { type: "boolean", default: false } as const;
export const text = { type: "string" } as const;
export const texts = { type: "string", multiple: true } as const;

/** @throws UsageError that says what does not fit, and which options there are. */
export function readOptions<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (thrown) {
    const [sentence] = (thrown instanceof Error ? thrown.message : String(thrown)).split(/\. |\n/);
    const all = Object.entries(config.options ?? {}).map(
      ([name, { type }]) => `--${name}${type === "string" ? " …" : ""}`,
    );
    throw new UsageError(`${sentence?.replace(/\.$/, "")}. There are ${all.join(", ")}.`);
  }
}

export const thereIsNo = (what: string, name: string, names: readonly string[]): string =>
  `There is no ${what} "${name}". There are ${names.join(", ")}.`;

/** A whole number from 1 that an option has. @throws UsageError for anything else. */
export function numberOf(option: string, value: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new UsageError(`${option} is a whole number from 1; got "${value}".`);
  return Number(value);
}
