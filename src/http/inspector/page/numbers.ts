const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const fine = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A count: whole up to 99,999, and then short. */
export const countText = (count: number): string => (count < 100_000 ? whole.format(count) : short.format(count));

/** A rate in 1/s. */
export const rateText = (rate: number): string => `${rate < 100 ? fine.format(rate) : countText(rate)}/s`;

/** A time in milliseconds. */
export function timeText(milliseconds: number | null): string {
  if (milliseconds === null) return "–";
  if (milliseconds < 1) return `${fine.format(milliseconds * 1000)} µs`;
  return milliseconds < 1_000 ? `${fine.format(milliseconds)} ms` : `${fine.format(milliseconds / 1000)} s`;
}

const pad = (part: number): string => String(part).padStart(2, "0");

/** The time of day of a moment. */
export function clockText(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(":");
}
