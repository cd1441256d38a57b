// Against a program that follows a script: what the views make of answers and events that are known.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import type { ValuesPanel } from '../../src/values/panel.ts';
import { extension, file, scripted, services, start, step, stop, told, until, untilAt } from './driver.ts';

const LISTING = vscode.Uri.parse('msvm://bc/0x0');

export const scriptedSuite = () =>
  suite('a session that follows a script', () => {
    setup(() => scripted('module'));
    teardown(stop);

    const launch = () => start({ program: file('neck.msasm').fsPath, shapes: ['x=2x3', 'y=3'] });

    test('stops in a listing that has our language, with the mode in the status bar', async () => {
      const { shown } = await services();
      await until('nothing is shown of the session before', () => shown.mode === undefined);
      await launch();
      const { editor, frame } = await untilAt(/TENSOR_CREATE/);
      assert.equal(editor.document.uri.toString(), LISTING.toString());
      await until('the language', () => editor.document.languageId === 'msbc');
      assert.equal(frame.session.type, 'msvm');
      await until('the mode', () => shown.mode === 'MS-VM: BC-Interpreter Mode');
    });

    test('registers follow each step, and what changed is marked', async () => {
      const { shown } = await services();
      await launch();
      await untilAt(/TENSOR_CREATE/);
      await vscode.commands.executeCommand('msvm.registers.focus');
      await until('registers', () => shown.registers.length === 16 && shown.registers[0]?.value === 'unset "x"');
      await step('stepOver');
      await untilAt(/TENSOR_CONST/);
      const x = await until('R0', () => shown.registers.find(({ register, kind }) => register === 'R0' && kind === 'tensor'));
      assert.deepEqual([x.label, x.value, x.changed], ['R0: TensorMeta', '[dynamic=16, 3, h=64, w=64] f32 "x"', true]);
      await step('stepOver');
      await untilAt(/TENSOR_ALLOC/);
      await until('R0 is not marked any more', () => shown.registers[0]?.changed === false && shown.registers[1]?.changed === true);
    });

    test('a breakpoint on a line of a listing is hit', async () => {
      await launch();
      await untilAt(/TENSOR_CREATE/);
      const point = new vscode.SourceBreakpoint(new vscode.Location(LISTING, new vscode.Position(9, 0)));
      vscode.debug.addBreakpoints([point]);
      await until('the adapter has the breakpoint', () => Promise.resolve(vscode.debug.activeDebugSession?.getDebugProtocolBreakpoint(point)));
      await step('continue');
      await untilAt(/Relu/);
    });

    test('a hot patch changes the mode, the tiers and the lenses; the end hides them', async () => {
      const { shown, sessions } = await services();
      const patched = new Promise<string>((resolve) => sessions.on('msvm/patched', ({ body }) => resolve((body as { text: string }).text)));
      await launch();
      const { editor } = await untilAt(/TENSOR_CREATE/);
      await step('continue');
      assert.match(await patched, /jit_64x64/);
      await until('the mode', () => shown.mode === 'MS-VM: JIT Mode (jit_64x64)');
      const hover = await until('the hover of a line', async () => {
        const found = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', LISTING, new vscode.Position(8, 12));
        const text = found.flatMap(({ contents }) => contents.map((content) => (content as vscode.MarkdownString).value)).join('\n');
        return text.includes('Tier 2') && text;
      });
      assert.match(hover, /native code made for these sizes.*`jit_64x64`/);
      assert.match(hover, /region 0/);
      await stop();
      await until('nothing is shown any more', () => shown.mode === undefined && shown.registers.length === 0);
      const again = await vscode.workspace.openTextDocument(LISTING);
      assert.equal(again.getText(), editor.document.getText(), 'it can be read when the session is over');
    });

    test('a hot patch is told, unless the user has silenced it', async () => {
      const said = told('showInformationMessage');
      try {
        await launch();
        await untilAt(/TENSOR_CREATE/);
        await step('continue');
        await until('the message', () => said.texts.some((text) => text.includes('hot patch: Patched 0x24')));
        await stop();
        said.texts.length = 0;
        await vscode.workspace.getConfiguration('msvm').update('notifyPatches', false, vscode.ConfigurationTarget.Workspace);
        const { shown } = await services();
        await launch();
        await untilAt(/TENSOR_CREATE/);
        await step('continue');
        await until('the mode', () => shown.mode?.includes('jit_64x64'));
        assert.deepEqual(said.texts, []);
      } finally {
        said.restore();
        await vscode.workspace.getConfiguration('msvm').update('notifyPatches', undefined, vscode.ConfigurationTarget.Workspace);
      }
    });

    test('a program of another version is told, with the command that mends it', async () => {
      const said = told('showWarningMessage');
      try {
        await scripted('old');
        await launch();
        await untilAt(/TENSOR_CREATE/);
        const text = await until('the message', () => said.texts[0]);
        assert.match(text, /speaks version 0 .* this extension version 1\. Update it: pip install --upgrade msvm/);
      } finally {
        said.restore();
      }
    });

    test('an interpreter without debugpy is told, and the button adds it', async () => {
      const python = file('a python').fsPath;
      const asked = file('asked.txt').fsPath;
      process.env.MSVM_SCENARIO_PYTHON = python;
      const warned = told('showWarningMessage', 'Install debugpy');
      const good = told('showInformationMessage');
      const bad = told('showErrorMessage');
      try {
        await scripted('bytecodeOnly');
        writeFileSync(python, `#!/bin/sh\necho "$@" >'${asked}'\n`, { mode: 0o755 });
        await launch();
        await untilAt(/TENSOR_CREATE/);
        await until('what it says of success', () => good.texts.some((text) => text.includes('debugpy is installed')));
        assert.equal(readFileSync(asked, 'utf8'), '-m pip install debugpy\n');
        assert.deepEqual([warned.texts, bad.texts], [['there is no debugpy'], []]);
        await stop();
        writeFileSync(python, '#!/bin/sh\necho "error: externally-managed-environment" >&2\nexit 1\n', { mode: 0o755 });
        await launch();
        await untilAt(/TENSOR_CREATE/);
        await until('what it says of failure', () => bad.texts.includes("debugpy isn't installed: externally-managed-environment"));
      } finally {
        for (const each of [warned, good, bad]) each.restore();
      }
    });

    test('values are shown by the panel, which follows the program', async () => {
      await launch();
      await untilAt(/TENSOR_CREATE/);
      await step('stepOver');
      await untilAt(/TENSOR_CONST/);
      const panel = await vscode.commands.executeCommand<ValuesPanel>('msvm.viewValues', 'R0');
      const shown = await until('values', () => (panel.shown?.type === 'tensor' && panel.shown.slice !== '' ? panel.shown : undefined));
      assert.equal(shown.slice, '0:8, 0:8');
      assert.equal(shown.tensor.values.length, 64);
      assert.equal(shown.tensor.statistics.nan, 1);
      const target = file('R0.npy');
      await vscode.commands.executeCommand('msvm.saveTensor', 'R0', target);
      await stop();
      await until('the values are marked as of before', () => panel.shown?.type === 'stale');
    });

    test('a module that does not verify is refused with its findings where they belong', async () => {
      await scripted('unverified');
      const begun = Date.now();
      await launch().catch(() => undefined); // the editor's own dialog, which tests can't answer, tells the refusal
      const found = await until('findings', () => vscode.languages.getDiagnostics(file('neck.msasm')).find(({ code }) => code === 'MSV0107'));
      assert.ok(Date.now() - begun < 15_000);
      assert.equal(found.range.start.line, 8);
      assert.match(found.message, /R2 is read before it is written\nWrite R2 first/);
    });

    test('completion in the console, and tables', async () => {
      const { sessions } = await services();
      await launch();
      await untilAt(/TENSOR_CREATE/);
      const answer = (await sessions.request('completions', { text: 'ms.vm.', column: 7 })) as { targets: { label: string }[] };
      assert.deepEqual(answer.targets.map(({ label }) => label), ['ms.vm.jit_info()']);
    });

    test('the program is found by its setting, and one that is not there is named', async () => {
      const { msvm } = await services();
      assert.match(await msvm.path(), /scenario\/msvm$/);
      await vscode.workspace.getConfiguration('msvm').update('path', '/nowhere/msvm', vscode.ConfigurationTarget.Workspace);
      await assert.rejects(msvm.path(), { message: /msvm\.path names \/nowhere\/msvm/, mend: /Correct it/ });
    });
  });

export const lensSuite = () =>
  suite('over jitted functions', () => {
    test('without a session, a lens starts one', async () => {
      const document = await vscode.workspace.openTextDocument(file('model.py'));
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri);
      const wanted = readFileSync(document.fileName, 'utf8').split('\n').findIndex((line) => line.startsWith('@ms.jit'));
      const ours = lenses.filter(({ command }) => command?.title.includes('Debug with MSVM'));
      assert.deepEqual(ours.map(({ range, command }) => [range.start.line, command?.command]), [[wanted, 'msvm.debugFile']]);
    });

    test('every command of the palette is registered', async () => {
      const all = new Set(await vscode.commands.getCommands(true));
      const { contributes } = extension().packageJSON as { contributes: { commands: { command: string }[] } };
      const named = contributes.commands.map(({ command }) => command);
      assert.deepEqual(named.filter((command) => !all.has(command)), []);
    });
  });
