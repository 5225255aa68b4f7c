import { digits, duration, quantity, table } from "../../harness/format";
import { whereAndWhen } from "../results";
import type { ActorFigure, ActorPeerResults, ActorRowResult, Checked } from "./results";
import { comparable, MOST, missed, standings } from "./standing";

const NONE = "–";
const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

/** The part of RESULTS.md that is about actors, from the results alone. */
export function renderActors(results: ActorPeerResults): string {
  const { machine, rounds, peers, rows } = results;
  const failures = new Set<string>();
  const absences = new Absences();
  const names = peers.map(({ name, isFloor }) => (isFloor ? `*${name}*` : name));
  const cell = (row: ActorRowResult, name: string): string => {
    const figure = row.figures.find(({ peer }) => peer === name);
    if (figure === undefined) return NONE;
    if ("failed" in figure) {
      failures.add(figure.failed);
      return "failed";
    }
    if ("none" in figure) {
      absences.add(`${name} has no`, `*${row.row}*`, figure.none);
      return NONE;
    }
    return reading(figure, row.unit);
  };
  const cellOf = ({ check, outcome }: Checked, name: string): string => {
    if (typeof outcome === "boolean") return outcome ? "yes" : "**no**";
    if ("failed" in outcome) failures.add(outcome.failed);
    else absences.add(`*${check}* says nothing of`, name, outcome.none);
    return "failed" in outcome ? "failed" : NONE;
  };
  const figures = rows.map((row) => [row.row, ...peers.map(({ name }) => cell(row, name))]);
  const checks = (peers[0]?.checks ?? []).map(({ check }) => [
    check,
    ...peers.map(({ name, checks }) => {
      const made = checks.find((each) => each.check === check);
      return made === undefined ? NONE : cellOf(made, name);
    }),
  ]);
  const leaves = [...new Set(peers.map((peer) => peer.leaves))];
  const sizes = leaves.length === 1 ? `The skynets have ${digits(leaves[0] ?? 0)} leaves.` : skynets(results);
  const parts = [
    "## Actors",
    whereAndWhen(machine, rounds),
    list(
      peers.map(
        ({ name, how, packages, isFloor }) =>
          `**${name}**${isFloor ? ", a floor" : ""}: ${[how, ...packages].join("; ")}.`,
      ),
    ),
    `### Median (and shortest); ns, µs and ms are for one operation\n\n${sizes}`,
    table(["", ...names], figures),
    "### What each does, as found in this run",
    table(["", ...names], checks),
    "### What each does not do",
    list(
      peers.map(({ name, lacks }) => `**${name}**: ${lacks.length === 0 ? "nothing of the above" : lacks.join("; ")}.`),
    ),
    "### How envoi stands",
    standing(results),
  ];
  const notes = [...failures, ...absences.sentences()];
  if (notes.length > 0) parts.push(`### What has no figure\n\n${list(notes.map((note) => `${note}.`))}`);
  return parts.join("\n\n");
}

/** What there is not, said once for all that it is said of for the same reason. */
class Absences {
  readonly #said = new Map<string, { readonly head: string; readonly of: string[]; readonly reason: string }>();

  add(head: string, of: string, reason: string): void {
    const key = `${head}: ${reason}`;
    const said = this.#said.get(key);
    if (said === undefined) this.#said.set(key, { head, of: [of], reason });
    else said.of.push(of);
  }

  sentences(): string[] {
    return [...this.#said.values()].map(({ head, of, reason }) => `${head} ${of.join(", ")}: ${reason}`);
  }
}

function reading({ median, min }: Extract<ActorFigure, { median: number }>, unit: ActorRowResult["unit"]): string {
  if (unit === "ns") return `${duration(median)} (${duration(min)})`;
  return quantity(median, unit);
}

const skynets = ({ peers }: ActorPeerResults): string =>
  `The skynets have so many leaves: ${peers.map(({ name, leaves }) => `${name} ${digits(leaves)}`).join(", ")}.`;

function standing(results: ActorPeerResults): string {
  const all = standings(results);
  const among = comparable(results);
  const ratios = all.flatMap(({ row, ratio }) => (ratio === undefined ? [] : [`${row} ${digits(ratio)}`]));
  const misses = missed(results);
  const verdict = `It is first in ${all.filter(({ behind }) => behind.length === 0).length} of ${all.length} rows among those that keep one message at a time and let timers fire (${among.join(", ")}).`;
  const beside = `Times the bare mailbox, which promises nothing, where at most ${MOST} are aimed at: ${ratios.join("; ")}.`;
  return [verdict, beside, misses.length === 0 ? "" : list(misses)].filter(Boolean).join("\n\n");
}
