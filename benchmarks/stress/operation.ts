import type { Audit } from "envoi";

/** What came of a request: the number that it was made with, or the kind of an error. */
export type Outcome = number | string;

/** Does one operation and gives back the number once it has seen that the work was done, or the kind of the error. */
export type Operation = (number: number) => Promise<Outcome>;

/** What is under load: a module exports `open`, which makes it. */
export interface Subject {
  /** What can be asked of it. */
  readonly operations: Readonly<Record<string, Operation>>;
  /** What can be done to it meanwhile; see `Load.command`. */
  readonly commands?: Readonly<Record<string, (argument: unknown) => unknown>>;
  /** Where its messages are; see `router.audit()`. */
  audit(): Audit;
  close(): Promise<void>;
}

/** Makes a subject. @param folder An empty folder for what it keeps, which is removed in the end. */
export type Open = (folder: string) => Subject | Promise<Subject>;
