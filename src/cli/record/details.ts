import type { RecordingLine } from "../../record/index";
import { plain, plainJson } from "../plain";
import { routeOf } from "./summary";

/** All of a line of a message, for people. @param after the time since the message was sent. */
export function detailsOf(line: RecordingLine, after: string): string {
  switch (line.kind) {
    case "message": {
      const { id, pattern, protocol, cause, payload, metadata } = line;
      const by = cause === undefined ? "" : `, sent while message ${cause} was handled`;
      const of = protocol === undefined ? "" : `, of the protocol ${protocol}`;
      const head = plain(`Message ${id}: ${pattern} ${routeOf(line)}${of}${by}`);
      return `${head}\n${partOf("payload", payload)}${partOf("metadata", metadata)}`;
    }
    case "item":
      return `item after ${after}\n${partOf("value", line.value)}`;
    case "end": {
      const why = line.reason === undefined ? "" : ` (${plain(line.reason)})`;
      return `${line.outcome}${why} after ${after}\n${partOf("reply", line.value)}${partOf("error", line.error)}`;
    }
    default:
      return "";
  }
}

const partOf = (name: string, value: unknown): string =>
  value === undefined ? "" : `  ${name}: ${plainJson(value, 2).replaceAll("\n", "\n  ")}\n`;
