// Structural sharing: a new value in which every part that equals the old one *is* the old one. What is drawn compares by identity, so
// that only what changed is drawn anew.

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null;

/** @returns `previous` if both are equal, else `next` with its equal parts taken from `previous`. Values are JSON; neither is written to. */
export function share<T>(previous: unknown, next: T): T {
  if (Object.is(previous, next)) return next;
  if (!isObject(previous) || !isObject(next) || Array.isArray(previous) !== Array.isArray(next)) return next;
  const keys = Object.keys(next);
  let same = keys.length === Object.keys(previous).length;
  const mixed: [string, unknown][] = keys.map((key) => {
    const part = share(previous[key], next[key]);
    if (!Object.is(part, previous[key]) || !(key in previous)) same = false;
    return [key, part];
  });
  if (same) return previous as T;
  return (Array.isArray(next) ? mixed.map(([, part]) => part) : Object.fromEntries(mixed)) as T;
}
