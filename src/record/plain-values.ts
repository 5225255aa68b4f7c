import type { Values } from "./sink";

/** Writes values as JSON does. */
export const plainValues: Values = {
  text(value) {
    try {
      if (value instanceof Error) return JSON.stringify({ name: value.name, message: value.message });
      return JSON.stringify(value) ?? '{"$undefined":true}';
    } catch {
      return '{"$unwritable":"object"}';
    }
  },
};
