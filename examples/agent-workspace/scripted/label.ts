/** A column's name as people read it. */
export interface Label {
  readonly text: string;
  /** Undefined where the name has none. */
  readonly unit: string | undefined;
}

const UNITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries("mm cm m km mg g kg lb ms mph kmh hp ml usd eur".split(" ").map((unit) => [unit, unit])),
  pct: "%",
  percent: "%",
};

/** `body_mass_g` is body mass in g, and `economy (mpg)` economy in mpg. */
export function labelOf(column: string): Label {
  const bracketed = /^(.*\S)\s*\(([^()]+)\)$/.exec(column);
  if (bracketed !== null) return { text: spaced(bracketed[1] ?? ""), unit: bracketed[2] };
  const [, name, suffix = ""] = /^(.+)_([a-z]+)$/i.exec(column) ?? [];
  const unit = Object.hasOwn(UNITS, suffix.toLowerCase()) ? UNITS[suffix.toLowerCase()] : undefined;
  return { text: spaced(unit === undefined || name === undefined ? column : name), unit };
}

const spaced = (name: string): string => name.replaceAll("_", " ").trim();

/** With its unit, as on an axis. */
export const titled = ({ text, unit }: Label): string => (unit === undefined ? text : `${text} (${unit})`);
