/** The part of an arrow function's node that is read here. */
interface Arrow {
  readonly end: number;
  readonly returnType?: { readonly start: number };
}

interface Attempt {
  readonly node: unknown;
  readonly error: { readonly pos?: number } | null;
}

/** The methods and fields of the TypeScript parser that are used here. */
interface Base {
  readonly type: unknown;
  readonly start: number;
  readonly lastTokEnd: number;
  eat(type: unknown): boolean;
  expect(type: unknown): void;
  startNodeAt(...place: unknown[]): Record<string, unknown>;
  finishNode(node: object, type: string): unknown;
  parseMaybeAssign(...parts: unknown[]): unknown;
  parseArrowExpression(...parts: unknown[]): Arrow;
  parseConditional(...parts: unknown[]): unknown;
  shouldParseArrow(list: readonly { readonly type: string }[]): boolean;
  shouldParseAsyncArrow(): boolean;
  /** Runs a part of the parser. If it throws a SyntaxError or aborts, everything it did is undone. */
  tryParse(work: (abort: () => never) => unknown): Attempt;
}

/**
 * A plugin of acorn: it reads `c ? (y) : z => z` as TypeScript itself does. There, `(y): z => z` is a function with a
 * return type only if another colon follows; otherwise the first colon is the conditional's. The plain parser always takes
 * the first colon for the function's, and then misses the conditional's.
 */
export function withConditionals(tokens: { readonly question: unknown; readonly colon: unknown }) {
  return <Parser>(parser: Parser): Parser => {
    const Plain = parser as unknown as new (...args: unknown[]) => Base; // The parser of TypeScript has these methods.
    class WithConditionals extends Plain {
      /** Colons that begin no return type. They are remembered, so that reading a part again takes no more attempts. */
      readonly #plain = new Set<number>();
      /** Colons that were taken for the beginning of a return type, in order. */
      #taken: number[] = [];
      /** The last function with a return type; of several that end together, the innermost one. */
      #typed: { readonly colon: number; readonly end: number } | null = null;

      override parseConditional(...parts: unknown[]): unknown {
        const [test, startPos, startLoc, forInit] = parts;
        if (!this.eat(tokens.question)) return test;
        const node = this.startNodeAt(startPos, startLoc);
        node["test"] = test;
        node["consequent"] = this.#consequent();
        this.expect(tokens.colon);
        node["alternate"] = this.parseMaybeAssign(forInit);
        return this.finishNode(node, "ConditionalExpression");
      }

      override shouldParseArrow(list: readonly { readonly type: string }[]): boolean {
        // `(y: T)` can only be the parameters of a function.
        const isTyped = list.some(({ type }) => type === "TSTypeCastExpression");
        return !isTyped && this.#isPlain() ? false : this.#note(() => super.shouldParseArrow(list));
      }

      override shouldParseAsyncArrow(): boolean {
        return this.#isPlain() ? false : this.#note(() => super.shouldParseAsyncArrow());
      }

      override parseArrowExpression(...parts: unknown[]): Arrow {
        const arrow = super.parseArrowExpression(...parts);
        if (arrow.returnType !== undefined && arrow.end !== this.#typed?.end) {
          this.#typed = { colon: arrow.returnType.start, end: arrow.end };
        }
        return arrow;
      }

      #consequent(): unknown {
        const before = this.#taken.length;
        for (;;) {
          let end = -1;
          this.#typed = null;
          const { node, error } = this.tryParse((abort) => {
            const consequent = this.parseMaybeAssign();
            if (this.type === tokens.colon) return consequent;
            end = this.lastTokEnd;
            return abort();
          });
          if (node) return node;
          const blamed = error === null ? this.#typedAt(end) : this.#takenAfter(error.pos ?? 0, before);
          this.#taken.length = before;
          if (blamed !== undefined && !this.#plain.has(blamed)) this.#plain.add(blamed);
          else if (error !== null) throw error;
          else return this.parseMaybeAssign(); // This throws the error at its place.
        }
      }

      /** The colon of the function that ends where the conditional's colon is missing. */
      #typedAt(end: number): number | undefined {
        return this.#typed?.end === end ? this.#typed.colon : undefined;
      }

      /** The colon after an error in the supposed parameters, which shows that no function is there. */
      #takenAfter(offset: number, from: number): number | undefined {
        return this.#taken.slice(from).findLast((colon) => colon > offset);
      }

      #isPlain(): boolean {
        return this.type === tokens.colon && this.#plain.has(this.start);
      }

      #note(decide: () => boolean): boolean {
        const colon = this.type === tokens.colon ? this.start : -1;
        const isArrow = decide();
        if (isArrow && colon !== -1) this.#taken.push(colon);
        return isArrow;
      }
    }
    return WithConditionals as unknown as Parser; // Static methods are inherited.
  };
}
