/** The parts of acorn's parser that are used here. Its documentation has plugins override methods of the class. */
interface Base {
  readonly input: string;
  readonly labels: readonly unknown[];
  readonly scopeStack: readonly Record<"var" | "lexical" | "functions", readonly string[]>[];
  nextToken(): unknown;
  raise(at: number, message: string): never;
  raiseRecoverable(at: number, message: string): never;
  declareName(name: string, type: number, at: number): unknown;
  parseLabeledStatement(...parts: unknown[]): unknown;
}

/** Most token reads per character. The TypeScript parser reads `<a>(<b>(…` again and again. */
const TRIES = 4;
const FIRST_TRIES = 500;
/** Most comparisons of names: each declared name is looked up among those before it. */
const COMPARISONS = 10_000_000;
const LABELS = 100;
/** Acorn's number for a declaration by `var`. */
const VAR = 1;

/** The parser gave up, at an offset. */
export class TooHard extends Error {
  constructor(
    message: string,
    readonly pos: number,
  ) {
    super(message);
  }
}

/** Limits a parser, for sources made to take long: it gives up once its work is out of proportion to their length. */
export function limited<Parser>(parser: Parser): Parser {
  const Unlimited = parser as unknown as new (...args: unknown[]) => Base; // See `Base`.
  class Limited extends Unlimited {
    private tries = -1;
    private comparisons = 0;

    override nextToken(): unknown {
      if (this.tries === -1) this.tries = FIRST_TRIES + TRIES * this.input.length;
      if (--this.tries === 0) throw new TooHard("This is too hard to read; write it in simpler parts.", 0);
      return super.nextToken();
    }

    override declareName(name: string, type: number, at: number): unknown {
      const { scopeStack } = this;
      const scope = scopeStack.at(-1);
      if (scope !== undefined) {
        const count = scope.var.length + scope.lexical.length + scope.functions.length;
        this.comparisons += type === VAR ? count * scopeStack.length : count;
      }
      if (this.comparisons > COMPARISONS)
        throw new TooHard("The code declares too many names; keep values in arrays.", at);
      return super.declareName(name, type, at);
    }

    override parseLabeledStatement(...parts: unknown[]): unknown {
      if (this.labels.length > LABELS) throw new TooHard("The code has too many labels; write it in simpler parts.", 0);
      return super.parseLabeledStatement(...parts);
    }

    /** Adds no line, which acorn counts from the beginning, and no stack: a parser that tries much throws much. */
    override raise(at: number, message: string): never {
      throw Object.setPrototypeOf({ message, pos: at }, SyntaxError.prototype);
    }

    override raiseRecoverable(at: number, message: string): never {
      return this.raise(at, message);
    }
  }
  return Limited as unknown as Parser; // Static methods are inherited.
}
