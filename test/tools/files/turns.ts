/** Counts the turns of the event loop. */
export function countTurns() {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  return {
    end() {
      clearImmediate(next);
      return turns;
    },
  };
}
