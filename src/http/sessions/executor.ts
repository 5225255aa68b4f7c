import type { Database } from "bun:sqlite";

// The functions of this file are also the program of a thread, by their text: so they name nothing outside of themselves. A file of
// their own would have to be found beside each bundle, and in each compiled application; a text goes wherever the code goes.

/** Runs a batch, which is JSON: an array of [the number of a statement, its values …]. Gives "", or the failure in words. */
export type Execute = (batch: string) => string;

/** Makes what runs each batch as one transaction. */
export function createExecutor(database: Database, statements: readonly string[]): Execute {
  const prepared = statements.map((statement) => database.prepare(statement));
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const rollback = database.prepare("ROLLBACK");
  return (batch) => {
    try {
      begin.run();
      for (const [statement, ...values] of JSON.parse(batch)) prepared[statement]?.run(...values);
      commit.run();
      return "";
    } catch (thrown) {
      if (database.inTransaction) rollback.run();
      const { code, message } = thrown as { code?: string; message?: string };
      return `${code ?? "ERROR"}: ${message ?? thrown}`;
    }
  };
}

/** The first order to the thread, as JSON. */
export interface Setup {
  readonly path: string;
  readonly pragmas: readonly string[];
  readonly statements: readonly string[];
}

/** The part of a thread's global scope that the program uses. */
export interface ThreadScope {
  onmessage: ((event: { readonly data: string }) => void) | null;
  postMessage(text: string): void;
}

/** The program of the thread. An empty message ends it. */
export function runThread(
  scope: ThreadScope,
  Connection: typeof Database,
  makeExecutor: typeof createExecutor,
  /** The number of the file at a path; undefined if there is none. */
  fileAt: (path: string) => number | undefined,
  end: () => void,
): void {
  let database: Database | null = null;
  let execute: Execute | null = null;
  /** True while the file that was opened is at its path. What is written to another one would be lost with this process. */
  let isInPlace = (): boolean => true;
  scope.onmessage = ({ data }) => {
    if (data === "") {
      database?.close();
      end();
      return;
    }
    if (execute !== null) {
      return scope.postMessage(
        isInPlace() ? execute(data) : "ERROR: the file was deleted or moved: start the service anew",
      );
    }
    // Until it could be opened, each message is the setup.
    try {
      const { path, pragmas, statements }: Setup = JSON.parse(data);
      database = new Connection(path, { readwrite: true, create: false });
      for (const pragma of pragmas) database.run(pragma);
      execute = makeExecutor(database, statements);
      const file = fileAt(path);
      isInPlace = () => fileAt(path) === file;
      scope.postMessage("");
    } catch (thrown) {
      database?.close();
      database = null;
      scope.postMessage(`The thread could not open the file: ${thrown}`);
    }
  };
}

/** The text of the program, as a module. */
export const threadProgram = (): string => `
  import { Database } from "bun:sqlite";
  import { statSync } from "node:fs";
  const fileAt = (path) => statSync(path, { throwIfNoEntry: false })?.ino;
  const __name = (target) => target; // Some bundlers put calls of it into functions.
  (${runThread})(self, Database, ${createExecutor}, fileAt, () => process.exit(0)); // In a thread this ends the thread alone.
`;
