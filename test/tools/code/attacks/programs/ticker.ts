/** Counts in a memory that it is given, every so many milliseconds, beside a thread that may be held up. */
declare const self: { onmessage: (event: { data: { count: Int32Array; every: number } }) => void };

self.onmessage = ({ data: { count, every } }) => {
  setInterval(() => Atomics.add(count, 0, 1), every);
};
