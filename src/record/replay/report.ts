import { type Deviation, type MessageNote, originOf } from "./deviation";
import { printable, show, showDifferences } from "./diff";
import type { Outcome } from "./sent";

/** Most deviations and notes that the text of a report shows. */
const MOST_SHOWN = 50;

/** The result of a replay. `String(report)` is a text of it, with the differences. */
export interface ReplayReport {
  /** The path of the recording. */
  readonly recording: string;
  /** True when there is no deviation. */
  readonly isSame: boolean;
  readonly deviations: readonly Deviation[];
  /** The number of messages that were sent again. */
  readonly sent: number;
  /** How many of them were compared: those whose end is in the recording. */
  readonly compared: number;
  /** The calls of actors outside that the recording has answered. */
  readonly answered: number;
  /** Values that could not be compared, since they are redacted. */
  readonly unreadable: number;
  /** Sentences about the recording itself: a torn line, payloads that were sent as they are, redacted. */
  readonly notes: readonly string[];
  toString(): string;
}

/** Makes a report of what was found. */
export function createReport(parts: Omit<ReplayReport, "isSame" | "toString">): ReplayReport {
  const isSame = parts.deviations.length === 0;
  return { ...parts, isSame, toString: () => textOf(parts) };
}

function textOf({
  recording,
  deviations,
  sent,
  compared,
  answered,
  notes,
}: Omit<ReplayReport, "isSame" | "toString">): string {
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
  const found =
    deviations.length > 0
      ? count(deviations.length, "deviation")
      : compared + answered === 0
        ? "nothing to compare"
        : "the same";
  const outside = answered === 0 ? "" : `, ${count(answered, "call")} answered from it`;
  const head = `${printable(recording)}: ${found}; ${count(sent, "message")} sent, ${compared} compared${outside}\n`;
  const shown = deviations.slice(0, MOST_SHOWN).map((deviation, index) => {
    const heading = headingOf(deviation, deviations[index - 1]);
    return `\n${heading}${index + 1}. ${showDeviation(deviation)}`;
  });
  if (deviations.length > MOST_SHOWN) shown.push(`\n… and ${deviations.length - MOST_SHOWN} more\n`);
  const noted = notes.slice(0, MOST_SHOWN).map((note) => `Note: ${printable(note)}\n`);
  return [head, ...noted, ...shown].join("");
}

/** Names the message from outside that led to some deviations, above the first of them. */
function headingOf(deviation: Deviation, before: Deviation | undefined): string {
  const origin = originOf(deviation);
  const isLed = "origin" in deviation && origin !== undefined;
  if (!isLed || (before !== undefined && originOf(before)?.id === origin.id)) return "";
  return `Led to by ${nameOf(origin)}:\n`;
}

/** Shows a deviation as a sentence and, below it, the differences. */
export function showDeviation(deviation: Deviation): string {
  switch (deviation.kind) {
    case "value": {
      const { part, index, why, differences, message } = deviation;
      const what = index === undefined ? `the ${part}` : `item ${index}`;
      const because = why === undefined ? "" : `: ${printable(why)}`;
      return `${nameOf(message)}: ${what} is another one${because}\n${showDifferences(differences)}`;
    }
    case "outcome": {
      const { message, recorded, replayed } = deviation;
      return `${nameOf(message)} ended otherwise\n  - ${outcomeOf(recorded)}\n  + ${outcomeOf(replayed)}\n`;
    }
    case "never":
      return `${nameOf(deviation.message)} did not end\n`;
    case "unsent":
      return `${nameOf(deviation.message)} could not be sent: ${printable(deviation.why)}\n`;
    case "extra-items":
    case "missing-items": {
      const { kind, message, recorded, replayed, items } = deviation;
      const sign = kind === "extra-items" ? "+" : "-";
      const lines = items.slice(0, 5).map((item) => `  ${sign} ${show(item)}\n`);
      if (items.length > 5) lines.push(`  … and ${items.length - 5} more\n`);
      return `${nameOf(message)} has ${replayed} items, and had ${recorded}\n${lines.join("")}`;
    }
    case "order":
      return `${nameOf(deviation.message)} ended behind ${nameOf(deviation.behind)}, and before it in the recording\n`;
    case "not-recorded":
      return `${deviation.sentence}\n`;
    case "other-payload":
      return `${nameOf(deviation.message)} was called with another payload\n${showDifferences(deviation.differences)}`;
    case "unused":
      return `${nameOf(deviation.message)} was not called again\n`;
  }
}

/** Names a message: `ask total of @(counter) (message 3, at 12.5 ms)`. */
const nameOf = ({ id, at, pattern, to, operation }: MessageNote): string =>
  `${pattern} ${printable(operation)} of ${printable(to)} (message ${id}, at ${at} ms)`;

function outcomeOf({ outcome, value, error, reason }: Outcome): string {
  if (outcome === "failed") return `failed: ${show(error)}`;
  if (outcome === "dead") return `dead letter: ${printable(reason ?? "")}`;
  return outcome === "handled" && value !== undefined ? `handled: ${show(value)}` : outcome;
}
