import { createSystem, defineProtocol, Type } from "envoi";
import type { Open, Operation } from "../operation";
import type { MakeTrouble, Told } from "./fault";

const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });

/** A client gives up as soon, in milliseconds. */
export const TIMEOUT = 1_000;

/** A subject in which something goes wrong, and an actor that has nothing to do with it. */
export const subjectOf =
  (make: MakeTrouble): Open =>
  async (folder) => {
    let lines = 0;
    const log = () => {
      lines++;
    };
    const system = createSystem({
      logger: { warn: log, error: log },
      supervision: { limit: Number.POSITIVE_INFINITY },
    });
    const echo = system.spawn("bystander", Echo, () => ({ say: (number) => number }));
    const trouble = await make({ system, folder, lines: () => lines });
    let asked = 0;
    let settled = 0;
    const counted =
      (operation: Operation): Operation =>
      async (number) => {
        asked++;
        try {
          return await operation(number);
        } finally {
          settled++;
        }
      };
    const ask: Operation = async (number) => {
      const answer = await echo.ask("say", number, { timeout: TIMEOUT });
      if (answer.isErr()) return answer.error.kind;
      return answer.value === number ? number : "wrong";
    };
    const operations = Object.entries({ ...trouble.operations, ask }).map(
      ([name, operation]) => [name, counted(operation)] as const,
    );
    const told = (): Told => {
      const failed = [...trouble.complaints()];
      if (asked !== settled) failed.push(`Of ${asked} requests, ${settled} were settled.`);
      return { happened: { ...trouble.happened(), "lines logged": lines }, failed };
    };
    return {
      operations: Object.fromEntries(operations),
      audit: () => system.router.audit(),
      close: () => system.shutdown().then(() => {}),
      commands: { begin: () => trouble.begin(), end: () => trouble.end(), told },
    };
  };
