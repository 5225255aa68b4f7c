import type { MetricFamily, Sample, SampledHistogram } from "../contract";

/** The media type of what is written here. */
export const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Writes families of metrics as OpenMetrics 1.0 text (https://prometheus.io/docs/specs/om/open_metrics_spec/). */
export const openMetrics = (families: readonly MetricFamily[]): string =>
  `${families.map(writeFamily).join("")}# EOF\n`;

function writeFamily({ name, type, unit, help, samples }: MetricFamily): string {
  const about = `# TYPE ${name} ${type}\n${unit === undefined ? "" : `# UNIT ${name} ${unit}\n`}# HELP ${name} ${escaped(help)}\n`;
  const suffix = type === "counter" ? "_total" : "";
  let text = about;
  for (const sample of samples) {
    const labels = writeLabels(sample);
    text +=
      typeof sample.value === "number"
        ? `${name}${suffix}${braced(labels)} ${writeNumber(sample.value)}\n`
        : writeHistogram(name, labels, sample.value);
  }
  return text;
}

function writeHistogram(name: string, labels: string, { bounds, buckets, sum, count }: SampledHistogram): string {
  const before = labels === "" ? "" : `${labels},`;
  let text = "";
  let total = 0;
  for (const [index, size] of buckets.entries()) {
    total += size;
    const bound = bounds[index];
    text += `${name}_bucket{${before}le="${bound === undefined ? "+Inf" : writeBound(bound)}"} ${total}\n`;
  }
  return `${text}${name}_count${braced(labels)} ${count}\n${name}_sum${braced(labels)} ${writeNumber(sum)}\n`;
}

const writeLabels = ({ labels }: Sample): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");

const braced = (labels: string): string => (labels === "" ? "" : `{${labels}}`);

/** A lone surrogate is not in UTF-8, and readers refuse the whole page for it. */
const escaped = (text: string): string =>
  /^[\w ./:-]*$/.test(text)
    ? text
    : text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');

function writeNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/**
 * A bound in the form that all programs write alike, which the standard wants as the bound is part of a name there: that of Go's `%g`,
 * with `.0` behind a whole number.
 */
export function writeBound(bound: number): string {
  const [digits = "", exponent = "0"] = bound.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 6) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}
