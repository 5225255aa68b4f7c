/** Ends a program that a forgotten timer would keep alive: long before the shortest timeout that could. */
export function failUnlessExited(milliseconds: number): void {
  process.on("exit", () => console.log("exit"));
  setTimeout(() => {
    console.log(`still alive after ${milliseconds} ms`);
    process.exit(1);
  }, milliseconds).unref();
}
