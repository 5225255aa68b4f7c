import { Value } from "typebox/value";
import type { PlannerFor } from "../agent";
import { REPORT } from "../permission";
import type { Observation, PlanItem, PlanRequest, Step, StepOf, Turn } from "../protocols";
import { analysisOf, repaired } from "./analysis";
import { type Head, isUnderstood, namesIn, overlap, type Question, questionOf } from "./question";
import { findingOf, reportOf } from "./report";
import { Summary } from "./summary";

/** A glance at a table: its head and three rows. What else is in it, the code finds. */
const HEAD = { from: 1, to: 4 };
const MOST_TABLES = 8;
const REPORT_PATH = `${REPORT}/report.md`;

/** A planner that needs no model: it goes by rules, and by what it has observed so far. */
export const scriptedPlanner: PlannerFor = () => () => ({
  *plan(request): Generator<PlanItem> {
    const [thought, step] = nextOf(request);
    yield { kind: "thought", text: thought };
    yield { kind: "step", step };
  },
});

type Next = [thought: string, step: Step];
const giveUp = (why: string): Next => ["I cannot go on.", { do: "giveUp", why }];

function nextOf({ task, turns }: PlanRequest): Next {
  const listed = turnsOf(turns, "list").at(-1)?.observation;
  if (listed === undefined) return ["I look which tables there are.", { do: "list", glob: "**/*.{csv,tsv}" }];
  if (listed.kind !== "files") return giveUp(`The tables could not be listed: ${sentenceOf(listed)}`);

  const tables = listed.paths
    .filter((path) => !path.startsWith(`${REPORT}/`))
    .toSorted((a, b) => overlap(task, b) - overlap(task, a))
    .slice(0, MOST_TABLES);
  if (tables.length === 0) return giveUp("There are no tables in this folder: no .csv and no .tsv.");
  const reads = turnsOf(turns, "read");
  const unread = tables.find((path) => !reads.some(({ step }) => step.path === path));
  if (unread !== undefined)
    return [`I look at the first lines of ${unread}.`, { do: "read", path: unread, lines: HEAD }];
  const heads = reads.flatMap(headOf);
  const question = questionOf(task, heads);
  if (question !== undefined && !isUnderstood(task, heads)) return notUnderstood(heads);
  if (question !== undefined) return analyse(task, turns, question);
  const unreadable = reads.find(({ observation }) => observation.kind === "error")?.observation;
  const reason = unreadable === undefined ? "" : ` Not all could be read: ${sentenceOf(unreadable)}`;
  return giveUp(`No table has both a column of numbers and a column that makes groups.${reason}`);
}

/** Says what would be understood, by what is in the tables. */
function notUnderstood(heads: readonly Head[]): Next {
  const tables = heads.map((head) => `${head.path} has ${namesIn(head).join(", ")}`);
  return giveUp(
    "I go by rules, and do not understand this task. I can compare the numbers of one column between the groups of another, " +
      `where the task names them, as in "How does A differ by B?": ${tables.join("; ")}. ` +
      "A model understands more: --planner model.",
  );
}

function analyse(task: string, turns: readonly Turn[], question: Question): Next {
  const runs = turnsOf(turns, "run");
  const last = runs.at(-1);
  if (last === undefined) {
    const { path, value, group } = question;
    return [
      `${path} has what the task is about: I compare "${value}" by "${group}".`,
      { do: "run", code: analysisOf(question) },
    ];
  }

  const { step, observation } = last;
  if (observation.kind === "error") {
    const code = runs.length === 1 ? repaired(step.code, observation) : undefined;
    if (code === undefined) return giveUp(`The analysis failed: ${sentenceOf(observation)}`);
    return [
      `It stopped in line ${observation.line}, as a cell has no value. I put a line before that one, which leaves such rows out.`,
      { do: "run", code },
    ];
  }
  const value = observation.kind === "value" ? observation.value : undefined;
  if (!Value.Check(Summary, value)) return giveUp("The analysis returned something other than its figures.");

  const written = turnsOf(turns, "write").at(-1)?.observation;
  if (written?.kind === "error") return giveUp(`The report could not be written: ${sentenceOf(written)}`);
  if (written === undefined) {
    const corrected = runs.length > 1 ? runs[0]?.observation : undefined;
    const content = reportOf(task, question, value, corrected && sentenceOf(corrected));
    return [
      "The figures are there, and so is the chart. I write the report.",
      { do: "write", path: REPORT_PATH, content },
    ];
  }
  return ["That is all.", { do: "finish", report: REPORT_PATH, summary: findingOf(question, value) }];
}

interface TurnOf<Name extends Step["do"]> {
  readonly step: StepOf<Name>;
  readonly observation: Observation;
}

/** The turns of one kind. */
const turnsOf = <Name extends Step["do"]>(turns: readonly Turn[], name: Name): TurnOf<Name>[] =>
  turns.filter((turn): turn is Turn & TurnOf<Name> => turn.step.do === name);

/** What a read found; nothing where it failed. */
const headOf = ({ step, observation }: TurnOf<"read">): Head[] =>
  observation.kind === "text" ? [{ path: step.path, content: observation.content }] : [];

const sentenceOf = (observation: Observation): string =>
  observation.kind === "error" ? observation.message : `an observation of the kind "${observation.kind}"`;
