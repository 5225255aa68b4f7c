import type { Floor, Prepared } from "./suite";

/** The floor of a stream: a loop over a bare generator, `length` items for each. */
const loop = (
  name: string,
  about: string,
  length: number,
  generate: (count: number) => AsyncIterable<number> | Iterable<number>,
): Floor => ({
  name,
  about,
  setup: (operations): Prepared => {
    let completed = 0;
    const run = async () => {
      for (let begun = 0; begun < operations; begun += length) {
        let next = 0;
        for await (const item of generate(length)) if (item === next++) completed++;
      }
    };
    return { run, completed: () => completed };
  },
});

/** One asynchronous generator for every `length` items. */
export const asyncGenerator = (length: number): Floor =>
  loop(
    `async generator of ${length}`,
    `\`for await\` over an asynchronous generator of ${length}`,
    length,
    async function* (count) {
      for (let i = 0; i < count; i++) yield i;
    },
  );

/** One synchronous generator for every `length` items. */
export const syncGenerator = (length: number): Floor =>
  loop(`generator of ${length}`, `\`for await\` over a synchronous generator of ${length}`, length, function* (count) {
    for (let i = 0; i < count; i++) yield i;
  });
