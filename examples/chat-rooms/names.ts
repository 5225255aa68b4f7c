const ROOMS = ["general", "garden", "kitchen", "library", "workshop"];
const USERS = ["ada", "bea", "cem", "dan", "eve", "fay", "gus", "hal", "ivy", "jon", "kay", "lou", "mia", "noa", "oli"];

export const nameOfRoom = (index: number): string => nth(ROOMS, index);

/** Names of so many users, and none of them `taken`. */
export const namesOfUsers = (count: number, taken?: string): string[] =>
  Array.from({ length: count + 1 }, (_, index) => nth(USERS, index))
    .filter((name) => name !== taken)
    .slice(0, count);

function nth(names: readonly string[], index: number): string {
  const round = Math.floor(index / names.length);
  return `${names[index % names.length]}${round === 0 ? "" : round + 1}`;
}
