/** What a program says of a command line that its parser refuses. The test fails where it takes it, or fails otherwise. */
export function refusalOf(parse: () => unknown, UsageError: new (message: string) => Error): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error("The command line was taken.");
}
