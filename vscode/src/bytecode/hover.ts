// What a line of a listing is: who runs it, where it comes from. What a register holds is the debugger's own hover.
import * as vscode from 'vscode';
import type { Listings } from './listings.ts';
import { at, tierName } from './model/listing.ts';

const SWATCHES = ['$(circle-outline)', '$(circle-filled)', '$(pass-filled)'];

export function lineHover(listings: Listings): vscode.HoverProvider {
  return {
    provideHover(document, position) {
      const listing = listings.of(document.uri);
      const line = listing === undefined ? undefined : at(listing, position.line);
      if (line === undefined) return undefined;
      const text = new vscode.MarkdownString(undefined, true);
      text.appendMarkdown(`${SWATCHES[line.tier] ?? ''} **Tier ${line.tier}**: ${tierName(line.tier)}`);
      if (line.signature !== '') text.appendMarkdown(`, \`${line.signature}\``);
      text.appendMarkdown(`  \noffset \`0x${line.offset.toString(16)}\`, address \`${line.address}\``);
      text.appendMarkdown(line.region === null ? ', in no region' : `, region ${line.region}`);
      if (line.place !== '') text.appendMarkdown(`  \nfrom ${line.place}`);
      return new vscode.Hover(text);
    },
  };
}
