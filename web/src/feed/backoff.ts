// How long to wait before the next try: doubled each time, up to a limit, spread so that many pages don't come back at once.

const FIRST_MS = 500;
const MOST_MS = 15_000;

/** @param tries how many failed in a row, from 1. @param random from 0 to 1. */
export function backoff(tries: number, random: number): number {
  const whole = Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, Math.min(tries, 30) - 1));
  return Math.round(whole * (0.75 + 0.25 * random));
}
