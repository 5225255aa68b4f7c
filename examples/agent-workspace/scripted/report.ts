import { basename } from "node:path";
import { labelOf, titled } from "./label";
import type { Question } from "./question";
import type { GroupSummary, Summary } from "./summary";

/** What the figures say, in a sentence. */
export function findingOf({ value, group }: Question, { groups }: Summary): string {
  const digits = digitsFor(groups);
  const format = formatWith(digits);
  const { text, unit } = labelOf(value);
  const [first, ...others] = groups.toSorted((a, b) => b.mean - a.mean);
  const last = others.at(-1);
  if (first === undefined) return `There is no ${text}.`;
  const figure = (mean: number): string => (unit === undefined ? format(mean) : `${format(mean)} ${unit}`);
  if (last === undefined)
    return `The mean ${text} is ${figure(first.mean)}; there is one ${labelOf(group).text} alone.`;
  // Between the figures as they are shown, lest they seem miscalculated.
  const apart = Number(first.mean.toFixed(digits)) - Number(last.mean.toFixed(digits));
  return (
    `The mean ${text} is highest where ${labelOf(group).text} is ${first.name}, ${figure(first.mean)}, ` +
    `and lowest where it is ${last.name}, ${figure(last.mean)}: ${figure(apart)} apart.`
  );
}

/** The report: what was asked, what was found, the chart, the figures, and how they were found. */
export function reportOf(task: string, question: Question, summary: Summary, corrected: string | undefined): string {
  const { groups, rows, gaps, groupsLeftOut, chart } = summary;
  const { path, group, value } = question;
  const format = formatWith(digitsFor(groups));
  const label = labelOf(value);
  const table = groups.map(({ name, count, ...figures }) => [
    cell(name),
    String(count),
    ...[figures.mean, figures.median, figures.lowest, figures.highest].map(format),
  ]);
  const notes = [
    `The table is ${cell(path)}, of ${rows} rows; compared are the numbers of ${cell(value)} by ${cell(group)}.`,
    ...(label.unit === undefined ? ["The table does not say in what unit they are."] : []),
    ...(gaps > 0 ? [`${gaps} of the rows have no value, and are left out.`] : []),
    ...(groupsLeftOut > 0 ? [`${groupsLeftOut} more groups, those with the fewest rows, are left out.`] : []),
    ...(corrected === undefined ? [] : [`The code was corrected once, as it had stopped at this: ${cell(corrected)}.`]),
    "The groups differ by this much; why they do, the table does not say.",
  ];
  return `# ${cell(task)}

${cell(findingOf(question, summary))}

![${cell(titled(label))} by ${cell(labelOf(group).text)}](${basename(chart)})

| ${cell(labelOf(group).text)} | rows | mean ${cell(titled(label))} | median | lowest | highest |
| --- | ---: | ---: | ---: | ---: | ---: |
${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}

## How this was found

${notes.map((note) => `- ${note}`).join("\n")}
`;
}

/** As many digits as tell the groups apart. */
function digitsFor(groups: readonly GroupSummary[]): number {
  const lowest = Math.min(...groups.map((group) => group.lowest));
  const highest = Math.max(...groups.map((group) => group.highest));
  return Math.min(Math.max(0, 2 - Math.floor(Math.log10(highest - lowest || Math.abs(highest) || 1))), 20);
}

const formatWith =
  (digits: number) =>
  (value: number): string =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** A text of which Markdown is to make nothing. */
const cell = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .replace(/[\\|<>*`[\]]/g, "\\$&")
    .trim();
