import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { open, place, write } from './editing.ts';

const UP = `module "up" version 1
func @forward(x: f32[N, 128, H, W]) -> (y: f32[N, 64, 2*H, 2*W])
b0:
  R0 "x" = TENSOR_CREATE input 0, [(batch, N), (channel, 128), (height, H), (width, W)]
  R1 = SHAPE_PROPAGATE R0, 2
  R2 = SHAPE_CALC mul R1, 2
  R3: f32[N, 64, H, W] strided = TENSOR_VIEW slice R0, axis 1 from 0 to 64
  R4 = TENSOR_ALLOC [(batch, N), (channel, 64), (height, R2), (width, 2*W)], f32, CPU(0)
  OP_CALL Resize(R3; R2, 2*W) -> R4 {axes: [2, 3], mode: "nearest"}
  TENSOR_FREE R3
  RETURN R4
`;

export const languageSuite = () =>
  suite('.msasm', () => {
    suiteSetup(() => write('lang.msasm', UP));

    test('is a language by its ending, and by its first line', async () => {
      const { document } = await open('lang.msasm');
      assert.equal(document.languageId, 'msasm');
      const text = await vscode.workspace.openTextDocument({ content: document.getText() });
      assert.ok(['msasm', 'plaintext'].includes(text.languageId)); // an untitled text has no first line until it is shown
    });

    test('hovers say what an instruction, an operator, a register is', async () => {
      const { document } = await open('lang.msasm');
      const hover = async (line: string, word: string): Promise<string> => {
        const found = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', document.uri, place(document, line, word));
        return found.flatMap((h) => h.contents.map((c) => (c instanceof vscode.MarkdownString ? c.value : JSON.stringify(c)))).join('\n');
      };
      assert.match(await hover('= TENSOR_ALLOC', 'TENSOR_ALLOC'), /Rd = unwritten : spec/);
      assert.match(await hover('OP_CALL Resize', 'Resize'), /\| `mode` \|/);
      assert.match(await hover('OP_CALL Resize', 'R3'), /TENSOR_VIEW slice/);
      assert.match(await hover('OP_CALL Resize', 'mode'), /\*\*mode\*\* of `Resize`/);
    });

    test('definitions, references and renaming of a register keep to its function', async () => {
      const { document } = await open('lang.msasm');
      const at = place(document, 'OP_CALL Resize', 'R3');
      const [definition] = await vscode.commands.executeCommand<vscode.Location[]>('vscode.executeDefinitionProvider', document.uri, at);
      assert.match(document.lineAt(definition?.range.start.line ?? 0).text, /R3.* = TENSOR_VIEW/);
      const references = await vscode.commands.executeCommand<vscode.Location[]>('vscode.executeReferenceProvider', document.uri, at);
      assert.equal(references.length, 3);
      const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit>('vscode.executeDocumentRenameProvider', document.uri, at, 'R30');
      assert.deepEqual(
        edit.get(document.uri).map((e) => e.newText),
        ['R30', 'R30', 'R30'],
      );
      await assert.rejects(async () => vscode.commands.executeCommand('vscode.executeDocumentRenameProvider', document.uri, at, 'nonsense'));
    });

    test('symbols of the outline, and completion', async () => {
      const { document } = await open('lang.msasm');
      const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>('vscode.executeDocumentSymbolProvider', document.uri);
      assert.ok(symbols.some((s) => s.name === '@forward' && s.children.some((b) => b.name === 'b0')));
      const offered = await vscode.commands.executeCommand<vscode.CompletionList>('vscode.executeCompletionItemProvider', document.uri, place(document, 'OP_CALL Resize', 'Resize').translate(0, 2));
      assert.ok(offered.items.some((i) => (typeof i.label === 'string' ? i.label : i.label.label) === 'Resize'));
    });
  });
