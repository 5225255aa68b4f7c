import { type OptionCheck, option } from "../index";

/** Attributes of OpenTelemetry: names, and texts, numbers or booleans. */
export const ATTRIBUTES = option.rule(
  'is an object of texts, numbers and booleans, such as { "envoi.system": "shop" }',
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((each) => /^(?:string|number|boolean)$/.test(typeof each)),
);

/** An object that has these methods. The text says where to get one. */
export const withMethods = (text: string, ...methods: readonly string[]): OptionCheck =>
  option.rule(
    text,
    (value) =>
      (typeof value === "object" || typeof value === "function") &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function"), // Not null: see above.
  );
