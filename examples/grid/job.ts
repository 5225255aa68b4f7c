import { addCounts, countWords, textOf } from "./corpus";
import { emptyShelf, type Shelf } from "./store";

/** What is to be counted, and how. */
export interface Job {
  readonly pages: number;
  /** Words of a page. */
  readonly words: number;
  /** Workers of each machine. */
  readonly workers: number;
  readonly seed: number;
  readonly chaos: boolean;
  /** True where workers are threads of their process; they are processes otherwise, so that chaos can kill them. */
  readonly threads: boolean;
  /** Takes lines about what happens. */
  readonly say: (line: string) => void;
  /** Takes a line about how far the work has come, twice a second. */
  readonly show: (line: string) => void;
  /** Ends the work before its end. */
  readonly signal: AbortSignal;
}

/** What came of a job. */
export interface Outcome {
  readonly shelf: Shelf;
  /** Pages that were acknowledged to the sender. */
  readonly acknowledged: ReadonlySet<number>;
  /** Pages that were sent again. */
  readonly sentAgain: number;
  /** Workers or machines that were killed. */
  readonly kills: number;
  /** The pages that each machine counted first. */
  readonly shares: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** An outcome beside the count of the same corpus in one process. */
export interface Verdict {
  /** Pages that were acknowledged and are not in the store. */
  readonly lost: number;
  readonly missing: number;
  /** Words whose count differs from that of one process. */
  readonly wrong: number;
  readonly isRight: boolean;
  /** How long one process took, in seconds. */
  readonly alone: number;
}

/** Counts the corpus in this process, and compares. */
export function judge({ pages, words, seed }: Job, { shelf, acknowledged }: Outcome): Verdict {
  const begun = performance.now();
  const totals = new Map<string, number>();
  for (let page = 0; page < pages; page++) addCounts(totals, countWords(textOf(seed, page, words)));
  const alone = (performance.now() - begun) / 1000;
  const all = new Set([...totals.keys(), ...shelf.totals.keys()]);
  const wrong = [...all].filter((word) => totals.get(word) !== shelf.totals.get(word)).length;
  const lost = [...acknowledged].filter((page) => !shelf.pages.has(page)).length;
  const missing = pages - shelf.pages.size;
  return { lost, missing, wrong, alone, isRight: lost === 0 && missing === 0 && wrong === 0 && shelf.unmarked === 0 };
}

/** Parts of the work after which something is killed: by progress and not by time, so that each run has it. */
const STRIKES = [0.15, 0.35, 0.55, 0.75];

/** Milliseconds without a page until the work is given up: what is missing by then is lost. */
const PATIENCE = 120_000;

/** The work as it proceeds: shows where it is, lets chaos strike, and says when all is there. */
export class Progress {
  readonly shelf = emptyShelf();
  readonly shares = new Map<string, number>();
  /** Resolves when all pages are in the store, when none has come for too long, or when the work is to end before. */
  readonly done = Promise.withResolvers<void>();
  readonly #job: Job;
  readonly #strike: (node: string) => boolean;
  readonly #patience: number;
  readonly #timer: Timer;
  #begun = performance.now();
  #last = 0;
  #lastKept = this.#begun;
  #strikes = 0;

  /** `strike` kills something, and says whether there was something to kill. Its argument is the node that counted the last page. */
  constructor(job: Job, strike: (node: string) => boolean, patience = PATIENCE) {
    this.#job = job;
    this.#strike = strike;
    this.#patience = patience;
    this.#timer = setInterval(() => this.#report(), 500);
    if (job.signal.aborted) this.end();
    else job.signal.addEventListener("abort", this.end, { once: true });
  }

  /** The work begins: its time counts from here. */
  begin(): void {
    this.#begun = performance.now();
    this.#lastKept = this.#begun;
  }

  get kills(): number {
    return this.#strikes;
  }

  get seconds(): number {
    return (this.#lastKept - this.#begun) / 1000;
  }

  /** Called when the store has taken a page that a node counted. */
  readonly onKept = (node: string): void => {
    const { pages, chaos } = this.#job;
    this.#lastKept = performance.now();
    this.shares.set(node, (this.shares.get(node) ?? 0) + 1);
    const part = this.shelf.pages.size / pages;
    if (chaos && part >= (STRIKES[this.#strikes] ?? Number.POSITIVE_INFINITY) && this.#strike(node)) this.#strikes++;
    if (part >= 1) this.end();
  };

  /** Shows no more. */
  readonly end = (): void => {
    clearInterval(this.#timer);
    this.#job.signal.removeEventListener("abort", this.end);
    this.done.resolve();
  };

  #report(): void {
    const { pages, words, say, show } = this.#job;
    const rate = (this.shelf.pages.size - this.#last) * 2;
    this.#last = this.shelf.pages.size;
    const millions = ((rate * words) / 1e6).toFixed(1);
    show(`${this.#last} of ${pages} pages   ${rate} pages/s   ${millions} million words/s`);
    if (performance.now() - this.#lastKept < this.#patience) return;
    say(`No page came for ${this.#patience / 1000} s: the work is given up.`);
    this.end();
  }
}
