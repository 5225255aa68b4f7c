import { digits, duration, table } from "../../harness/format";
import { hasFailed, type PeerRow, whereAndWhen } from "../results";
import type { AttackResult, CodePeerResults, Outcome } from "./results";

const NONE = "–";
const ms = (milliseconds: number): string => duration(milliseconds * 1e6);
const mb = (bytes: number): string => `${digits(bytes / 1e6)} MB`;

/** How much of a processor counts as being at rest. */
const REST = 0.25;

/** The part of RESULTS.md that is about code, from the results alone. */
export function renderCode({ machine, rounds, limits, patience, peers }: CodePeerResults): string {
  const failures = new Set<string>();
  const failed = (reason: string): string => {
    failures.add(reason);
    return "failed";
  };
  const time = (figure: PeerRow["figure"]): string => {
    if (figure === null) return NONE;
    return hasFailed(figure) ? failed(figure.failed) : `${duration(figure.median)} (${duration(figure.min)})`;
  };
  const names = peers.map(({ name }) => name);
  const operations = (peers[0]?.rows ?? []).map(({ row }) => [
    row,
    ...peers.map((peer) => time(peer.rows.find((each) => each.row === row)?.figure ?? null)),
  ]);
  const attacks = (cell: (outcome: Outcome) => string): string => {
    const one = (outcome: AttackResult["outcome"] | undefined): string => {
      if (outcome === undefined) return NONE;
      return hasFailed(outcome) ? failed(outcome.failed) : cell(outcome);
    };
    const all = (peers[0]?.attacks ?? []).map(({ attack }) => [
      attack,
      ...peers.map((peer) => one(peer.attacks.find((each) => each.attack === attack)?.outcome)),
    ]);
    return table(["", ...names], all);
  };
  const ended = ({ after, how }: Outcome): string => {
    if (after !== null) return how === "value" ? `${ms(after)}, with a value` : ms(after);
    return how === "died" ? "its process died" : `not in ${ms(patience)}`;
  };
  const memory = (outcome: Outcome): string =>
    outcome.memory === null ? NONE : `${mb(outcome.memory.peak)} (${mb(outcome.memory.before)})`;
  const afterwards = ({ usable, busy }: Outcome): string => {
    if (usable === null) return "no";
    return busy !== null && busy > REST ? `${ms(usable)}; ${digits(busy)} of a processor still at work` : ms(usable);
  };
  const parts = [
    "## Code",
    whereAndWhen(machine, rounds),
    peers.map(({ name, how, packages }) => `- **${name}**: ${[how, ...packages].join("; ")}.`).join("\n"),
    "### Time of an operation, median (and shortest)",
    table(["operation", ...names], operations),
    `### Attacks: ended after, where ${ms(limits.timeout)} and ${mb(limits.memory)} were the limits`,
    attacks(ended),
    "### Attacks: longest time that a 5 ms timer of the host did not fire",
    attacks(({ gap }) => ms(gap)),
    "### Attacks: most memory of the host and its processes together (and before)",
    attacks(memory),
    "### Attacks: afterwards, the next trivial run",
    attacks(afterwards),
  ];
  if (failures.size > 0) parts.push(`### What failed\n\n${[...failures].map((each) => `- ${each}`).join("\n")}`);
  return parts.join("\n\n");
}
