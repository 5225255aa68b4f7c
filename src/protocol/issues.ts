import type { TLocalizedValidationError } from "typebox/error";
import type { Issue } from "../message/delivery-error";
import type { StandardIssue } from "./schema";

/** Most issues that are told of one payload. */
export const MAX_ISSUES = 8;
const MAX_CHOICES = 12;
const MAX_TEXT = 200; // Keys and library messages may hold parts of the payload: an error must not carry it all.

/** An issue that is not worded yet. `expected` lists the kinds of value that would fit. */
export interface Finding {
  readonly path: string;
  readonly message?: string;
  readonly expected?: readonly string[];
}

/** The findings of a union, passed through TypeBox as the message of a refinement. */
export class Explanation {
  readonly findings: readonly Finding[];
  constructor(findings: readonly Finding[]) {
    this.findings = findings;
  }
}

/** A key as a segment of a JSON Pointer. */
export const toSegment = (key: PropertyKey): string => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Shortens a text to the length that an error may hold. */
export const clip = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`);

/** A literal as text, for an issue. */
export const nameLiteral = (value: unknown): string =>
  clip(typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? String(value)));

/** TypeBox's errors as findings, each fault once. */
export function toFindings(errors: readonly TLocalizedValidationError[]): readonly Finding[] {
  const literals = new Set(errors.filter((e) => e.keyword === "const").map((e) => e.schemaPath + e.instancePath));
  const findings = errors.flatMap((error): readonly Finding[] => {
    const path = error.instancePath;
    switch (error.keyword) {
      case "type":
        // A literal of another type fails twice. The error with its value says more.
        if (literals.has(error.schemaPath + path)) return [];
        return [{ path, expected: [error.params.type].flat().map(nameType) }];
      case "const":
        return [{ path, expected: [nameLiteral(error.params.allowedValue)] }];
      case "enum":
        return [{ path, expected: error.params.allowedValues.map(nameLiteral) }];
      case "required":
        return error.params.requiredProperties.map((key) => ({ path: path + toSegment(key), message: "is required" }));
      case "boolean":
        return [{ path, message: "is not allowed" }];
      case "additionalProperties":
        return []; // Each property has its own error.
      case "anyOf":
        return errors.length > 1 ? [] : [{ path, message: "must fit one of the alternatives" }];
      case "oneOf":
        if (error.params.passingSchemas.length > 0) return [{ path, message: "must fit only one of the alternatives" }];
        return errors.length > 1 ? [] : [{ path, message: "must fit one of the alternatives" }];
      case "~refine": {
        const message: unknown = error.params.message;
        if (!(message instanceof Explanation)) return [{ path, message: String(message) }];
        return message.findings.map((finding) => ({ ...finding, path: path + finding.path }));
      }
      default:
        return [{ path, message: error.message }];
    }
  });
  return mergeExpected(findings);
}

/** Merges the alternatives for the same place into one finding. */
export function mergeExpected(findings: readonly Finding[]): readonly Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of findings) {
    const { path, message, expected } = finding;
    const key = JSON.stringify([path, message]);
    const before = merged.get(key)?.expected;
    merged.set(key, before && expected ? { path, expected: [...new Set([...before, ...expected])] } : finding);
  }
  return [...merged.values()];
}

/** Words the findings, at most eight. */
export const toIssues = (findings: readonly Finding[]): readonly Issue[] =>
  findings.slice(0, MAX_ISSUES).map(({ path, message, expected }) => ({
    path: clip(path),
    message: clip(message ?? `must be ${listChoices(expected ?? [])}`),
  }));

/** The issues of another schema library, in our form. */
export const fromStandardIssues = (issues: readonly StandardIssue[]): readonly Issue[] =>
  issues.slice(0, MAX_ISSUES).map(({ message, path }) => ({
    path: clip((path ?? []).map((key) => toSegment(typeof key === "object" ? key.key : key)).join("")),
    message: clip(message),
  }));

const nameType = (type: string): string => {
  if (type === "null" || type === "undefined") return type;
  if (type === "void") return "undefined";
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
};

function listChoices(choices: readonly string[]): string {
  if (choices.length > MAX_CHOICES) {
    return `one of ${choices.slice(0, MAX_CHOICES).join(", ")}, … (${choices.length} in all)`;
  }
  return choices.length < 2 ? choices.join() : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}
