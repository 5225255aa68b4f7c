import { isMet } from "./paths";
import { holdsFor, type Place, type Transform } from "./transform";

/** Steps from one place in a value to the next that are remembered. */
const MOST_STEPS = 1_000;
/** Places of messages whose transforms are remembered. */
const MOST_PLACES = 10_000;
/** The longest name of one that is remembered: strangers choose names of operations and keys. */
const LONGEST = 512;

/** Finds the transforms of the places in a value. */
export class Matcher {
  readonly #transforms: readonly Transform[];
  readonly #roots = new Map<string, Spot | null>();

  constructor(transforms: readonly Transform[]) {
    this.#transforms = transforms;
  }

  /** The spot at which a value begins; null where no transform holds. */
  at(place: Place): Spot | null {
    if (this.#transforms.length === 0) return null;
    const key = `${place.part} ${place.operation} ${place.address} ${place.pool ?? ""}`;
    const known = this.#roots.get(key);
    if (known !== undefined) return known;
    const positions = this.#transforms.flatMap((each) =>
      holdsFor(each, place) ? reached({ transform: each, at: 0 }) : [],
    );
    const root = positions.length === 0 ? null : new Spot(positions).step(place.part);
    if (this.#roots.size >= MOST_PLACES) this.#roots.clear();
    if (key.length <= LONGEST) this.#roots.set(key, root);
    return root;
  }
}

/** The steps of a transform's path that have been followed. */
interface Position {
  readonly transform: Transform;
  readonly at: number;
}

/** A place in a value, as the paths see it: which of them have come how far. */
export class Spot {
  /** The transform for what stands here: the first of those that hold. */
  readonly transform: Transform | null;
  readonly #positions: readonly Position[];
  /** True when each index of a list leads to the same spot. */
  readonly #isSameForItems: boolean;
  readonly #isPassed: boolean;
  #passed: Spot | undefined = undefined;
  #without: Spot | null | undefined = undefined;
  #items: Spot | null | undefined = undefined;
  readonly #steps = new Map<string, Spot | null>();

  /** @param isPassed true when the transforms that end here have been applied. */
  constructor(positions: readonly Position[], isPassed = false) {
    this.#positions = positions;
    this.#isPassed = isPassed;
    const ended = isPassed ? undefined : positions.find(({ transform, at }) => at === transform.steps.length);
    this.transform = ended?.transform ?? null;
    this.#isSameForItems = positions.every(({ transform, at }) => {
      const step = transform.steps[at];
      if (step?.kind === "key") return !/^[0-9]+$/.test(step.key);
      return step?.kind !== "pattern" || /[^0-9*]/.test(step.pattern);
    });
  }

  /** The spot below a key; null where no path leads. */
  step(key: string): Spot | null {
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const met = this.#positions.flatMap(({ transform, at }) => {
      const step = transform.steps[at];
      if (step === undefined || !isMet(step, key)) return [];
      return reached({ transform, at: step.kind === "deep" ? at : at + 1 });
    });
    const next = unique(met);
    const spot = next.length === 0 ? null : !this.#isPassed && this.#isSame(next) ? this : new Spot(next);
    if (this.#steps.size >= MOST_STEPS) this.#steps.clear();
    if (key.length <= LONGEST) this.#steps.set(key, spot);
    return spot;
  }

  /** The spot of an item of a list. */
  item(index: number): Spot | null {
    if (!this.#isSameForItems) return this.step(String(index));
    if (this.#items === undefined) this.#items = this.step("0");
    return this.#items;
  }

  /** This spot for what its transform gave: those that end here have been applied. */
  passed(): Spot {
    this.#passed ??= new Spot(this.#positions, true);
    return this.#passed;
  }

  /** As `passed`, and its transform changes nothing below either. */
  without(): Spot | null {
    if (this.#without === undefined) {
      const left = this.#positions.filter(({ transform }) => transform !== this.transform);
      this.#without = left.length === 0 ? null : new Spot(left, true);
    }
    return this.#without;
  }

  #isSame(positions: readonly Position[]): boolean {
    return (
      positions.length === this.#positions.length &&
      positions.every(({ transform, at }, index) => {
        const own = this.#positions[index];
        return own?.transform === transform && own.at === at;
      })
    );
  }
}

/** A path at `**` has also come to the step behind it. */
function reached(position: Position): Position[] {
  const positions = [position];
  for (const { transform, at } of positions) {
    if (transform.steps[at]?.kind === "deep") positions.push({ transform, at: at + 1 });
  }
  return positions;
}

function unique(positions: readonly Position[]): Position[] {
  return positions.filter(
    ({ transform, at }, index) =>
      positions.findIndex((other) => other.transform === transform && other.at === at) === index,
  );
}
