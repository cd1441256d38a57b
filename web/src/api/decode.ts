// Readers of JSON from outside. What is missing or of another type becomes the reader's default, so that a page and a program of
// different versions still get along; types of what was read follow from the readers.

export type Reader<T> = (raw: unknown) => T;
export type Read<R> = R extends Reader<infer T> ? T : never;

const isObject = (raw: unknown): raw is Record<string, unknown> => typeof raw === 'object' && raw !== null && !Array.isArray(raw);
const isNumber = (raw: unknown): raw is number => typeof raw === 'number' && Number.isFinite(raw);

export const number: Reader<number> = (raw) => (isNumber(raw) ? raw : 0);
export const numberOrNull: Reader<number | null> = (raw) => (isNumber(raw) ? raw : null);
export const string: Reader<string> = (raw) => (typeof raw === 'string' ? raw : '');
export const boolean: Reader<boolean> = (raw) => raw === true;

export function list<T>(item: Reader<T>): Reader<readonly T[]> {
  return (raw) => (Array.isArray(raw) ? raw.map(item) : []);
}

/** An object with any keys. */
export function table<T>(value: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (raw) => (isObject(raw) ? Object.fromEntries(Object.entries(raw).map(([key, v]) => [key, value(v)])) : {});
}

export function object<S extends Record<string, Reader<unknown>>>(shape: S): Reader<{ readonly [K in keyof S]: Read<S[K]> }> {
  const readers = Object.entries(shape);
  return (raw) => {
    const source = isObject(raw) ? raw : {};
    return Object.fromEntries(readers.map(([key, reader]) => [key, reader(source[key])])) as { readonly [K in keyof S]: Read<S[K]> };
  };
}

export function orNull<T>(reader: Reader<T>): Reader<T | null> {
  return (raw) => (isObject(raw) ? reader(raw) : null);
}

export function oneOf<const T extends string>(values: readonly T[], otherwise: T): Reader<T> {
  return (raw) => values.find((v) => v === raw) ?? otherwise;
}
