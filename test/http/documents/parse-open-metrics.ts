/** A family as it was read. */
export interface ParsedFamily {
  readonly type: string;
  readonly unit: string | undefined;
  readonly help: string | undefined;
  readonly samples: readonly ParsedSample[];
}

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const DESCRIPTOR = new RegExp(`^# (TYPE|UNIT|HELP) (${NAME})(?: (.*))?$`, "su");
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"\n]|\\[\\"n])*)"/y;
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/;
/** The suffixes that the samples of a type have. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ["_total"],
  gauge: [""],
  histogram: ["_bucket", "_count", "_sum"],
};
const EOF = "# EOF\n";

/**
 * Parses OpenMetrics 1.0 text, of the types that envoi writes, by its ABNF and by the rules beside it.
 *
 * @throws Error for anything that the standard does not allow.
 */
export function parseOpenMetrics(text: string): ReadonlyMap<string, ParsedFamily> {
  if (!text.isWellFormed()) throw new Error("It is not in UTF-8.");
  if (!text.endsWith(EOF)) throw new Error("It does not end with # EOF.");
  const body = text.slice(0, -EOF.length);
  if (body !== "" && !body.endsWith("\n")) throw new Error("The last line has no end.");
  const families = new Map<string, { type: string; unit?: string; help?: string; samples: ParsedSample[] }>();
  let present = "";
  for (const line of body === "" ? [] : body.slice(0, -1).split("\n")) {
    const fail = (fault: string): never => {
      throw new Error(`${fault}: ${line}`);
    };
    const [, what, name = "", value = ""] = DESCRIPTOR.exec(line) ?? [];
    if (what === undefined) {
      if (line.startsWith("#")) fail("No comment is allowed");
      const sample = parseSample(line);
      const family = families.get(present) ?? fail("A sample without a family");
      const suffixes = SUFFIXES[family.type] ?? fail(`Unknown type ${family.type}`);
      if (!suffixes.some((suffix) => sample.name === present + suffix)) fail(`No sample of ${present}`);
      family.samples.push(sample);
      continue;
    }
    if (what === "TYPE") {
      if (families.has(name)) fail("The family comes twice");
      present = name;
      families.set(name, { type: value, samples: [] });
      continue;
    }
    const family = families.get(name);
    if (name !== present || family === undefined) return fail("Before its TYPE, or in another family");
    if (family.samples.length > 0) fail("After its samples");
    if (what === "UNIT") {
      if (family.unit !== undefined) fail("Twice");
      if (!name.endsWith(`_${value}`)) fail("The name does not end with the unit");
      family.unit = value;
    } else {
      if (family.help !== undefined) fail("Twice");
      if (!/^(?:[^\\"]|\\[\\"n])*$/.test(value)) fail("Not escaped");
      family.help = unescaped(value);
    }
  }
  checkNames(families);
  for (const [name, family] of families) check(name, family);
  return new Map([...families].map(([name, family]) => [name, { unit: undefined, help: undefined, ...family }]));
}

function parseSample(line: string): ParsedSample {
  const [, name = "", braced, value = ""] = new RegExp(`^(${NAME})(?:(\\{.*\\}))? (\\S+)$`, "su").exec(line) ?? [];
  if (name === "" || !NUMBER.test(value)) throw new Error(`No sample: ${line}`);
  const labels: Record<string, string> = {};
  if (braced !== undefined) {
    let place = 1;
    while (place < braced.length - 1) {
      LABEL.lastIndex = place;
      const [whole, label = "", text = ""] = LABEL.exec(braced) ?? [];
      if (whole === undefined) throw new Error(`No label at ${place}: ${line}`);
      if (label in labels) throw new Error(`The label ${label} comes twice: ${line}`);
      if (label.startsWith("__")) throw new Error(`The label ${label} is reserved: ${line}`);
      labels[label] = unescaped(text);
      place += whole.length;
      if (place < braced.length - 1 && braced[place++] !== ",") throw new Error(`No comma at ${place}: ${line}`);
    }
  }
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));

/** No sample of one family may look like one of another. */
function checkNames(families: ReadonlyMap<string, { readonly type: string }>): void {
  const names = [...families].flatMap(([name, { type }]) => (SUFFIXES[type] ?? []).map((suffix) => name + suffix));
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`Two families have samples named ${twice}.`);
}

function check(
  name: string,
  { type, samples }: { readonly type: string; readonly samples: readonly ParsedSample[] },
): void {
  if (type === "counter" && name.endsWith("_total")) throw new Error(`${name}: a counter's name has no suffix.`);
  const seen = new Set<string>();
  const histograms = new Map<string, ParsedSample[]>();
  let last = "";
  for (const sample of samples) {
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
    if (seen.has(key)) throw new Error(`A sample comes twice: ${key}`);
    seen.add(key);
    if (type !== "gauge" && !(sample.value >= 0)) throw new Error(`Below zero, or no number: ${key}`);
    if (type !== "histogram") continue;
    const { le: _, ...others } = sample.labels;
    const metric = JSON.stringify(Object.entries(others).sort());
    if (metric !== last && histograms.has(metric)) throw new Error(`Not together: ${key}`);
    last = metric;
    histograms.set(metric, [...(histograms.get(metric) ?? []), sample]);
  }
  for (const [metric, own] of histograms) checkHistogram(`${name} ${metric}`, own);
}

function checkHistogram(name: string, samples: readonly ParsedSample[]): void {
  const buckets = samples.filter((sample) => sample.name.endsWith("_bucket"));
  const bounds = buckets.map(({ labels: { le = "" } }) => {
    if (!/^(?:\d+\.\d+|\d(?:\.\d+)?e[+-]\d{2,}|\+Inf)$/.test(le))
      throw new Error(`${name}: le="${le}" is not canonical.`);
    return Number(le.replace("Inf", "Infinity"));
  });
  if (bounds.at(-1) !== Number.POSITIVE_INFINITY) throw new Error(`${name}: the last bucket is +Inf.`);
  const grows = (numbers: readonly number[], isStrict: boolean): boolean =>
    numbers.every(
      (each, index) => index === 0 || each > (numbers[index - 1] ?? 0) || (!isStrict && each === numbers[index - 1]),
    );
  if (!grows(bounds, true)) throw new Error(`${name}: the bounds do not grow.`);
  const counts = buckets.map(({ value }) => value);
  if (!counts.every(Number.isInteger) || !grows(counts, false)) throw new Error(`${name}: the buckets do not add up.`);
  const valuesOf = (suffix: string): number[] =>
    samples.filter((sample) => sample.name.endsWith(suffix)).map(({ value }) => value);
  if (valuesOf("_sum").length !== 1) throw new Error(`${name}: one sum is wanted.`);
  if (!Bun.deepEquals(valuesOf("_count"), [counts.at(-1)])) throw new Error(`${name}: the count is not that of +Inf.`);
}
