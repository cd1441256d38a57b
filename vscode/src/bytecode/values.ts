// Registers where they stand in a listing: the debugger's hover, and values behind the lines that gave them.
import * as vscode from 'vscode';
import { readRegisters } from '../debug/model/wire.ts';
import type { Sessions } from '../debug/sessions.ts';
import { defined } from './model/listing.ts';

/** Of one stop at most; a listing may have thousands in sight of nobody. */
const MOST = 256;

export const registerUnderCursor: vscode.EvaluatableExpressionProvider = {
  provideEvaluatableExpression(document, position) {
    const range = document.getWordRangeAtPosition(position, /\bR\d+\b/);
    return range === undefined ? undefined : new vscode.EvaluatableExpression(range);
  },
};

export function inlineValues(sessions: Sessions): vscode.InlineValuesProvider {
  return {
    async provideInlineValues(document, viewport, context) {
      const waiting = sessions.waiting;
      if (waiting === undefined) return [];
      const lines = new Map<number, vscode.Range>();
      const last = Math.min(viewport.end.line, context.stoppedLocation.end.line - 1);
      for (let line = Math.max(viewport.start.line, last - MOST); line <= last; line++) {
        const { text, range } = document.lineAt(line);
        const register = defined(text);
        if (register !== undefined) lines.set(register, range); // the last line that gave it a value
      }
      if (lines.size === 0) return [];
      const first = Math.min(...lines.keys());
      const count = Math.min(Math.max(...lines.keys()) - first + 1, MOST);
      const read = await sessions.request('msvm/registers', { threadId: waiting.threadId, first, count }, waiting.session).catch(() => undefined);
      return readRegisters(read).registers.flatMap((register) => {
        const range = lines.get(Number(register.reg.slice(1)));
        const text = register.kind === 'TensorMeta' ? register.text : register.value || register.text;
        return range === undefined || text === '' ? [] : [new vscode.InlineValueText(range, `${register.reg} = ${text}`)];
      });
    },
  };
}
