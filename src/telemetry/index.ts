/** The name by which tracers and meters know this library (its instrumentation scope). */
export const SCOPE = "envoi";
