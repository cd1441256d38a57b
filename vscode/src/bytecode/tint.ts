// Lines of listings tinted by the tier that runs them.
import * as vscode from 'vscode';
import { isListing, type Listings } from './listings.ts';
import { heads, spans } from './model/listing.ts';

const TIERS = [1, 2] as const;

export function tint(listings: Listings): vscode.Disposable {
  const lines = new Map(
    TIERS.map((tier) => [
      tier,
      vscode.window.createTextEditorDecorationType({
        isWholeLine: true,
        backgroundColor: new vscode.ThemeColor(`msvm.tier${tier}Background`),
        borderColor: new vscode.ThemeColor(`msvm.tier${tier}`),
        borderStyle: 'solid',
        borderWidth: '0 0 0 2px',
        overviewRulerColor: new vscode.ThemeColor(`msvm.tier${tier}`),
        overviewRulerLane: vscode.OverviewRulerLane.Left,
      }),
    ]),
  );
  const names = vscode.window.createTextEditorDecorationType({ after: { margin: '0 0 0 3em', fontStyle: 'italic' } });

  const paint = (editor: vscode.TextEditor) => {
    if (!isListing(editor.document.uri)) return;
    const listing = listings.of(editor.document.uri);
    const found = listing === undefined ? [] : spans(listing);
    for (const [tier, type] of lines) {
      editor.setDecorations(
        type,
        found.filter((span) => span.tier === tier).map((span) => new vscode.Range(span.first, 0, span.last, 0)),
      );
    }
    const begins = listing === undefined ? [] : heads(listing);
    editor.setDecorations(
      names,
      begins.map(({ line, signature, tier }) => ({
        range: editor.document.lineAt(Math.min(line, editor.document.lineCount) - 1).range,
        renderOptions: { after: { contentText: signature, color: new vscode.ThemeColor(`msvm.tier${tier}`) } },
      })),
    );
  };
  const paintAll = () => vscode.window.visibleTextEditors.forEach(paint);

  return vscode.Disposable.from(
    ...lines.values(),
    names,
    vscode.window.onDidChangeVisibleTextEditors(paintAll),
    vscode.workspace.onDidChangeTextDocument(paintAll),
    listings.onDidChangeListing(paintAll),
  );
}
