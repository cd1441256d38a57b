// Over each @ms.jit: tier, SCD and hit rate while a session runs, else a way to start one.
import * as vscode from 'vscode';
import { readState, type Program } from '../../../web/src/api/schema.ts';
import type { Feature, Services } from '../services.ts';
import { facts, line } from './model/facts.ts';
import { jitted } from './model/jitted.ts';

/** Milliseconds between questions to a program that runs. */
const PERIOD = 2000;

class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #sessions: Services['sessions'];
  readonly #timer: NodeJS.Timeout;
  #programs: readonly Program[] = [];

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor({ context, sessions }: Services) {
    this.#sessions = sessions;
    this.#timer = setInterval(() => void this.#ask(), PERIOD);
    context.subscriptions.push(
      sessions.onDidBegin(() => this.#changed.fire()),
      sessions.onDidEnd(() => void this.#ask()),
      sessions.onDidChangeStopped(() => void this.#ask()),
      sessions.on('msvm/patched', () => void this.#ask()),
    );
  }

  async #ask(): Promise<void> {
    const seen = vscode.window.visibleTextEditors.some(({ document }) => document.languageId === 'python');
    if (this.#sessions.current !== undefined && !seen) return;
    const before = JSON.stringify(this.#programs);
    const answer = await this.#sessions.request('msvm/jitInfo').catch(() => undefined);
    if (answer === undefined && this.#sessions.current !== undefined) return; // it ends, or begins: what was known stays
    this.#programs = readState(Array.isArray(answer) ? { programs: answer } : answer).programs;
    if (JSON.stringify(this.#programs) !== before) this.#changed.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    return jitted(document.getText()).flatMap((each) => {
      const range = new vscode.Range(each.line, 0, each.line, 0);
      const known = facts(this.#programs, document.fileName, each);
      if (known !== undefined) {
        const programs = known.programs.map(({ id }) => id);
        return [
          new vscode.CodeLens(range, { title: `$(pulse) ${line(known)}`, command: 'msvm.showScd', arguments: [{ programs }], tooltip: 'Show the SCD analysis' }),
          ...(known.tier > 0 ? [new vscode.CodeLens(range, { title: 'machine code', command: 'msvm.disassembleEntry', arguments: [{ programs }], tooltip: 'Disassemble a JIT entry' })] : []),
        ];
      }
      if (this.#sessions.current !== undefined) return [new vscode.CodeLens(range, { title: '$(pulse) has not run yet', command: '' })];
      return [new vscode.CodeLens(range, { title: '$(debug-alt) Debug with MSVM', command: 'msvm.debugFile', arguments: [document.uri], tooltip: 'Stops at the first jitted function that runs' })];
    });
  }

  dispose(): void {
    clearInterval(this.#timer);
    this.#changed.dispose();
  }
}

export const codelens: Feature = (services) => {
  const lenses = new Lenses(services);
  services.context.subscriptions.push(lenses, vscode.languages.registerCodeLensProvider({ language: 'python' }, lenses));
};
