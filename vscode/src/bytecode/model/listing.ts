// A program's listing, looked at: runs of lines of one tier, where a region's code begins, which register a line defines.
import type { Listing, ListingLine } from '../../debug/model/wire.ts';

export interface Span {
  readonly tier: number;
  /** Lines from 0, both included. */
  readonly first: number;
  readonly last: number;
}

/** Neighbouring lines of one tier above 0 as one span. */
export function spans(listing: Listing): readonly Span[] {
  const found: Span[] = [];
  for (const { line, tier } of listing.lines) {
    if (tier <= 0) continue;
    const before = found.at(-1);
    if (before?.tier === tier && before.last === line - 2) found[found.length - 1] = { ...before, last: line - 1 };
    else found.push({ tier, first: line - 1, last: line - 1 });
  }
  return found;
}

/** The first line of each region that has native code. */
export function heads(listing: Listing): readonly ListingLine[] {
  const seen = new Set<string>();
  return listing.lines.filter((line) => {
    if (line.tier <= 0 || line.region === null) return false;
    const key = `${line.function}:${line.region}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

export const at = (listing: Listing, line: number): ListingLine | undefined => listing.lines.find((each) => each.line === line + 1);

const TIERS = ['interpreted, instruction by instruction', 'native code for any sizes', 'native code made for these sizes'];
export const tierName = (tier: number): string => TIERS[tier] ?? `tier ${tier}`;

const DEFINES = /^\s*(?:0x[0-9a-f]+:?\s+)?R(\d+)(?:\s+"[^"]*")?\s*[:=]/;
const WRITES = /->\s*R(\d+)/;

/** The register that a line of a listing gives a value: its result, or the destination of a call. */
export function defined(text: string): number | undefined {
  const found = DEFINES.exec(text) ?? WRITES.exec(text);
  return found === null ? undefined : Number(found[1]);
}

/** The text with the places in its comments relative to the folders that are open: "; /ws/model.py:9" becomes "; model.py:9". */
export function placesWithin(text: string, folders: readonly string[]): string {
  const longest = [...folders].filter((folder) => folder !== '').sort((a, b) => b.length - a.length);
  return text
    .split('\n')
    .map((line) => {
      const comment = line.indexOf(' ; ');
      if (comment < 0) return line;
      const places = longest.reduce((rest, folder) => rest.replaceAll(` ${folder}/`, ' ').replaceAll(`"${folder}/`, '"'), line.slice(comment));
      return line.slice(0, comment) + places;
    })
    .join('\n');
}
