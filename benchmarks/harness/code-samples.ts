/** A piece of code, and what must come of it. */
export interface Sample {
  readonly code: string;
  readonly value: number | string;
  /** How many lines it writes to its console. */
  readonly logs: number;
}

const sample = (code: string, value: Sample["value"], logs = 0): Sample => ({ code, value, logs });

/** What the rows about code run, and their floors: the same for both. */
export const arithmetic = sample("(2 + 3) * 4 - 6 / 3", 18);
export const array = sample(
  "[1, 2, 3, 4, 5].map((n) => n * 2).filter((n) => n > 2).reduce((sum, n) => sum + n, 0)",
  28,
);
export const text = sample(
  'const words = "the quick brown fox".split(" ");\nwords.map((word) => word[0].toUpperCase() + word.slice(1)).join(" ")',
  "The Quick Brown Fox",
);
export const json = sample(
  'const order = JSON.parse(\'{"items":[{"price":2,"count":3},{"price":5,"count":1}]}\');\n' +
    "JSON.stringify({ total: order.items.reduce((sum, { price, count }) => sum + price * count, 0) })",
  '{"total":11}',
);
export const loop = sample("let sum = 0;\nfor (let i = 1; i <= 100; i++) sum += i;\nsum", 5050);
export const output = sample('console.log("Hello");\n42', 42, 1);

/** The published ones that are an execution each. */
export const samples: readonly Sample[] = [arithmetic, array, text, json, loop, output];

/** Makes a text of a number, which is written to a file. */
export const report = {
  code: '"report " + (input % 2) + "\\n" + "-".repeat(90)',
  /** The value for an input. */
  value: (input: number): string => `report ${input % 2}\n${"-".repeat(90)}`,
};

/** Adds up the numbers of a file's text. */
export const total = {
  file: Array.from({ length: 100 }, (_, index) => index + 1).join("\n"),
  code: 'const numbers = input.split("\\n").map(Number);\n"total " + numbers.reduce((sum, n) => sum + n, 0)',
  value: "total 5050",
};

let turns = 0;

/** The same code as a source that there never was: nothing that is kept of one serves the next. */
export const asUnique = (code: string): string => `let turn = ${turns++};\n${code}`;
