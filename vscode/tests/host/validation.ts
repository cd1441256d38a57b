import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import * as vscode from 'vscode';
import { file, real, services, until, workspace } from './driver.ts';
import { msvm, open, write } from './editing.ts';

const BROKEN = `module "up" version 1
func @f(x: f32[N, h]) -> (f32[N, K])
b0:
  R0 "größe" = TENSOR_CREATE input 0
  R3 = SHAPE_PROPAGATE R0, 1
  R1 = TENSOR_ALLOC [N, h], f32, CPU(0)
  OP_CALL Concat(R0, R0) -> R1 {axis: 1}
  RETURN R1
`;

const ofMsvm = (uri: vscode.Uri) => vscode.languages.getDiagnostics(uri).filter((d) => d.source === 'msvm');
const found = (uri: vscode.Uri) => until('something is found', () => (ofMsvm(uri).length > 0 ? ofMsvm(uri) : undefined));
const clean = (uri: vscode.Uri) => until('nothing is found any longer', () => ofMsvm(uri).length === 0 || undefined);

async function fixAt(uri: vscode.Uri, range: vscode.Range): Promise<vscode.CodeAction> {
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, range, vscode.CodeActionKind.QuickFix.value);
  const [action] = actions.filter((a) => a.title.startsWith('Insert'));
  assert.ok(action, JSON.stringify(actions.map((a) => a.title)));
  return action;
}

async function apply(action: vscode.CodeAction): Promise<void> {
  if (action.edit) assert.ok(await vscode.workspace.applyEdit(action.edit));
  if (action.command) await vscode.commands.executeCommand(action.command.command, ...((action.command.arguments ?? []) as unknown[]));
}

export const validationSuite = () =>
  suite('validation', () => {
    suiteSetup(real);

    test('a text that is saved shows its findings, and the fix mends it', async () => {
      const uri = await write('up.msasm', BROKEN.replace('h], f32', '2*h], f32'));
      const { document } = await open('up.msasm');
      await clean(uri);
      const edit = new vscode.WorkspaceEdit();
      edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), BROKEN);
      await vscode.workspace.applyEdit(edit);
      await document.save();
      const [diagnostic] = await found(uri);
      assert.ok(diagnostic);
      assert.equal(diagnostic.code, 'MSV0401');
      assert.equal(document.getText(diagnostic.range), 'R1 = TENSOR_ALLOC [N, h], f32, CPU(0)');
      assert.match(diagnostic.message, /Missing SHAPE_CALC from h to 2\*h\nExpected: \[N, h\]\nFound: /);
      const action = await fixAt(uri, diagnostic.range);
      assert.equal(action.title, 'Insert R4 = SHAPE_CALC mul R3, 2, write R4');
      await apply(action);
      await clean(uri);
      assert.ok(document.getText().includes('  R4 = SHAPE_CALC mul R3, 2\n  R1 = TENSOR_ALLOC [N, R4], f32, CPU(0)\n'));
      await document.save();
    });

    test('what can’t be read is shown where it stands, with the word that was meant', async () => {
      const uri = await write('typo.msasm', BROKEN.replace('SHAPE_PROPAGATE', 'SHAPE_PROPAGAT'));
      await open('typo.msasm');
      const [diagnostic] = await found(uri);
      assert.equal(diagnostic?.range.start.line, 4);
    });

    test('the command answers with the findings', async () => {
      const uri = await write('up2.msasm', BROKEN);
      const done = await vscode.commands.executeCommand<{ findings: { code: string }[] } | undefined>('msvm.validate', uri);
      assert.deepEqual(done?.findings.map((f) => f.code), ['MSV0401']);
      const fine = await vscode.commands.executeCommand<{ findings: unknown[] } | undefined>('msvm.validate', file('neck.msasm'));
      assert.deepEqual(fine?.findings, []);
      assert.equal(await vscode.commands.executeCommand('msvm.validate', file('model.py')), undefined);
    });

    test('a .msbc opens as its text, is mended, and saved when it is confirmed; the former file stays', async () => {
      await write('up3.msasm', BROKEN);
      msvm('asm', 'up3.msasm', '-o', 'up3.msbc');
      const before = await readFile(file('up3.msbc').fsPath);
      await vscode.commands.executeCommand('vscode.open', file('up3.msbc'));
      const document = await until('the text is open', () => vscode.window.visibleTextEditors.find((e) => e.document.uri.scheme === 'msvm-file')?.document);
      assert.equal(document.languageId, 'msbc');
      assert.ok(document.getText().includes('TENSOR_ALLOC [N, h], f32, CPU(0)'));
      const [diagnostic] = await found(document.uri);
      assert.ok(diagnostic);
      const asked: string[] = [];
      let answer = false;
      const { files } = await services();
      files.ask = (question, detail) => {
        asked.push(`${question} ${detail}`);
        return Promise.resolve(answer);
      };
      const action = await fixAt(document.uri, diagnostic.range);
      await apply(action);
      await until('the question', () => asked.length > 0);
      assert.equal(asked.length, 1);
      assert.match(asked[0] ?? '', /Save up3\.msbc\?.*kept as up3\.msbc\.bak/);
      assert.deepEqual(await readFile(file('up3.msbc').fsPath), before, 'not confirmed: not written');
      answer = true;
      await document.save();
      await until('the file is written', async () => !(await readFile(file('up3.msbc').fsPath)).equals(before) || undefined);
      assert.match(msvm('verify', 'up3.msbc'), /verified/);
      assert.deepEqual(await readFile(file('up3.msbc.bak').fsPath), before);
      assert.deepEqual((await readdir(workspace().fsPath)).filter((name) => name.startsWith('.up3')), [], 'no scratch file is left');
    });

    test('a text that can’t be assembled isn’t saved', async () => {
      await write('up4.msasm', BROKEN);
      msvm('asm', 'up4.msasm', '-o', 'up4.msbc');
      const before = await readFile(file('up4.msbc').fsPath);
      const document = await vscode.workspace.openTextDocument(file('up4.msbc').with({ scheme: 'msvm-file' }));
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(4, 0), '  FROB\n');
      await vscode.workspace.applyEdit(edit);
      assert.equal(await document.save(), false);
      assert.deepEqual(await readFile(file('up4.msbc').fsPath), before);
      assert.ok((await found(document.uri)).some((d) => d.range.start.line === 4));
    });

    test('a file of ten thousand instructions opens as text, its weights left out', async () => {
      const n = 3333;
      const body = Array.from({ length: n }, (_, k) => `  R${k + 1} = TENSOR_ALLOC [N, 1000], f32, CPU(0)\n  OP_CALL Relu(R${k}) -> R${k + 1}\n${k > 0 ? `  TENSOR_FREE R${k}\n` : ''}`).join('');
      await write('big.msasm', `module "big" version 1\nconst %w f32[1000] = fill(0.5)\nfunc @main(x: f32[N, 1000]) -> (f32[N, 1000])\nb0:\n  R0 = TENSOR_CREATE input 0\n${body}  RETURN R${n}\n`);
      msvm('asm', 'big.msasm', '-o', 'big.msbc');
      const start = performance.now();
      const document = await vscode.workspace.openTextDocument(file('big.msbc').with({ scheme: 'msvm-file' }));
      const took = performance.now() - start;
      process.stdout.write(`10 000 instructions opened in ${took.toFixed(0)} ms\n`);
      assert.ok(document.lineCount > 10_000);
      assert.ok(document.getText().includes('data(elided)'));
      const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>('vscode.executeDocumentSymbolProvider', document.uri);
      assert.ok(symbols.some((s) => s.name === '@main'));
    });

    test('a file that isn’t bytecode says so', async () => {
      const uri = await write('broken.msbc', 'no bytecode');
      await assert.rejects(async () => vscode.workspace.openTextDocument(uri.with({ scheme: 'msvm-file' })));
      assert.equal(await vscode.commands.executeCommand('msvm.validate', uri), undefined);
    });
  });
