/** Of file names in the run folder: whose processes have a debug server, newest number first. */
export function processIds(names: readonly string[]): readonly number[] {
  return names
    .map((name) => /^(\d+)\.debug\.json$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
}
