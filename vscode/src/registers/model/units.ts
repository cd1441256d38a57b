const scaled = (value: number, step: number, units: readonly string[]): string => {
  let unit = 0;
  let rest = value;
  while (rest >= step && unit < units.length - 1) {
    rest /= step;
    unit++;
  }
  return `${unit === 0 ? rest : rest.toPrecision(3)} ${units[unit] ?? ''}`;
};

/** "1.50 MiB" */
export const bytes = (count: number): string => scaled(count, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);

/** "41.2 µs" of nanoseconds. */
export const duration = (ns: number): string => scaled(Math.round(ns), 1000, ['ns', 'µs', 'ms', 's']);
