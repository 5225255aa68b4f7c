/** How a step of load went. */
export type Verdict =
  | { readonly kind: "held" }
  /** @param why What broke, as the end of a sentence. */
  | { readonly kind: "broke"; readonly why: string }
  /** The step says nothing, since what makes the load, or the machine, was the limit. */
  | { readonly kind: "void"; readonly why: string };

export interface LadderOptions<Step> {
  /** Requests a second of the first step. */
  readonly from: number;
  /** How much more each step has than the one before. Default: 1.6. */
  readonly factor?: number;
  /** The breaking point is found when the lowest load that broke is no more than this beside the highest that held. Default: 1.1. */
  readonly precision?: number;
  /** Where it gives up. Default: 10 million requests a second. */
  readonly most?: number;
  /** Puts on a load for a while and tells how it was. */
  readonly step: (rate: number) => Promise<Step>;
  readonly judge: (step: Step) => Verdict;
}

/** Tries of a step that says nothing: what else the machine does may be over by then. */
const VOIDS = 5;

/** The steps in the order in which they were taken, and where it broke. */
export interface Climb<Step> {
  readonly steps: readonly { readonly rate: number; readonly step: Step; readonly verdict: Verdict }[];
  /** The highest load that held, in requests a second; 0 when none did. */
  readonly held: number;
  /** The lowest load that broke. */
  readonly broke: number;
  /** What broke there. */
  readonly why: string;
}

/** The breaking point was not found: the message says why. */
export class NotFound extends Error {
  constructor(
    message: string,
    /** Of a `Climb`. */
    readonly steps: Climb<unknown>["steps"],
  ) {
    super(message);
  }
}

/**
 * Raises the load until it breaks, and halves what is between the highest that held and the lowest that broke (in
 * proportion) until they are close. A load has broken when it broke twice, since a machine may falter once; one that was void
 * five times ends the search.
 *
 * @throws NotFound when the breaking point cannot be found.
 */
export async function climb<Step>(options: LadderOptions<Step>): Promise<Climb<Step>> {
  const { from, factor = 1.6, precision = 1.1, most = 1e7, step, judge } = options;
  const steps: { rate: number; step: Step; verdict: Verdict }[] = [];
  const take = async (rate: number): Promise<Verdict> => {
    const taken = await step(rate);
    const verdict = judge(taken);
    steps.push({ rate, step: taken, verdict });
    return verdict;
  };
  const decide = async (rate: number): Promise<Exclude<Verdict, { kind: "void" }>> => {
    let hasBroken = false;
    for (let voids = 0; ; ) {
      const verdict = await take(rate);
      if (verdict.kind === "held" || (verdict.kind === "broke" && hasBroken)) return verdict;
      if (verdict.kind === "broke") hasBroken = true;
      else if (++voids === VOIDS) throw new NotFound(`At ${rate} requests a second, ${verdict.why}.`, steps);
    }
  };
  let held = 0;
  let broke = Number.POSITIVE_INFINITY;
  let why = "";
  for (let rate = from; broke / held > precision; ) {
    if (rate > most) throw new NotFound(`It bore ${held} requests a second, and no more are tried.`, steps);
    if (rate < 1) throw new NotFound(`It did not bear ${broke} requests a second: ${why}.`, steps);
    const verdict = await decide(rate);
    if (verdict.kind === "held") held = rate;
    else {
      broke = rate;
      why = verdict.why;
    }
    rate = next({ held, broke, factor });
  }
  return { steps, held, broke, why };
}

function next(at: { held: number; broke: number; factor: number }): number {
  if (at.broke === Number.POSITIVE_INFINITY) return rounded(at.held * at.factor);
  if (at.held === 0) return rounded(at.broke / at.factor); // The first step broke already.
  return rounded(Math.sqrt(at.held * at.broke));
}

/** Four digits: a whole number would not do for the smallest loads. */
const rounded = (rate: number): number => Number(rate.toPrecision(4));

/**
 * Raises the load for as long as it is borne: the highest one that was, and why the next one was not. What is void counts as
 * not borne. Each load has two tries.
 */
export async function highest<Step>(
  options: Pick<LadderOptions<Step>, "from" | "factor" | "step" | "judge">,
): Promise<Pick<Climb<Step>, "steps" | "held" | "why">> {
  const { from, factor = 1.6, step, judge } = options;
  const steps: { rate: number; step: Step; verdict: Verdict }[] = [];
  let held = 0;
  for (let rate = from, tries = 0; ; ) {
    const taken = await step(rate);
    const verdict = judge(taken);
    steps.push({ rate, step: taken, verdict });
    if (verdict.kind === "held") {
      held = rate;
      rate = rounded(rate * factor);
      tries = 0;
    } else if (++tries === 2) return { steps, held, why: verdict.why };
  }
}
