// Against the `msvm` and the Python module of the build.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ValuesPanel } from '../../src/values/panel.ts';
import { file, real, services, start, step, stop, until, untilAt } from './driver.ts';

export const moduleSuite = () =>
  suite('a module', () => {
    setup(real);
    teardown(stop);

    const launch = (more: object = {}) => start({ program: file('neck.msasm').fsPath, shapes: ['x=2x3', 'y=3'], stopOnEntry: true, ...more });

    test('is stepped, with its registers and values', async () => {
      const { shown } = await services();
      await launch();
      const { editor, frame } = await untilAt(/TENSOR_CREATE input 0/);
      assert.equal(editor.document.uri.toString(), 'msvm://bc/0x0/neck');
      assert.equal(frame.session.type, 'msvm');
      await until('the mode', () => shown.mode === 'MS-VM: BC-Interpreter Mode');
      await vscode.commands.executeCommand('msvm.registers.focus');
      await step('stepOver');
      await untilAt(/TENSOR_CREATE input 1/);
      const x = await until('R0', () => shown.registers.find(({ register, kind }) => register === 'R0' && kind === 'tensor'));
      assert.equal(x.label, 'R0: TensorMeta');
      assert.match(x.value, /2.*3.* f32/);
      const panel = await vscode.commands.executeCommand<ValuesPanel>('msvm.viewValues', 'R0');
      const values = await until('values', () => (panel.shown?.type === 'tensor' && panel.shown.slice !== '' ? panel.shown : undefined));
      assert.deepEqual(values.shape, [2, 3]);
      assert.equal(values.tensor.values.length, 6);
    });
  });
