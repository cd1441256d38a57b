import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as vscode from 'vscode';
import type { MonitorPanel } from '../../src/monitor/panel.ts';
import { file, real, services, start, stop, until, workspace } from './driver.ts';
import { msvm, write } from './editing.ts';

const PROGRAM = `module "steady" version 1
func @main(x: f32[N, M]) -> (f32[N, M])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
`;

export const monitorSuite = () =>
  suite('monitor and traces', () => {
    suiteSetup(real);

    test('JIT Monitor follows a program that runs', async () => {
      await write('steady.msasm', PROGRAM);
      const path = vscode.workspace.getConfiguration('msvm').get<string>('path', '');
      const program = spawn(path, ['run', 'steady.msasm', '-s', 'x=512x512', '-n', '1000000', '-q', '--monitor', '127.0.0.1:0'], { cwd: workspace().fsPath });
      try {
        let said = '';
        program.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
        const url = await until('the monitor says its address', () => /monitor: (http:\S+)/.exec(said)?.[1]);
        const panel = await vscode.commands.executeCommand<MonitorPanel | undefined>('msvm.openMonitor', url.endsWith('/') ? url : `${url}/`);
        assert.ok(panel);
        await until('the page has three states', () => panel.states >= 3 || undefined);
        assert.ok(vscode.window.tabGroups.all.some((g) => g.tabs.some((t) => t.label === 'JIT Monitor')));
        panel.dispose();
      } finally {
        program.kill();
      }
    });

    test('JIT Monitor of a debug session has the states of its adapter', async () => {
      await write('steady.msasm', PROGRAM);
      await start({ program: file('steady.msasm').fsPath, shapes: ['x=64x64'], runs: 3, stopOnEntry: true });
      try {
        const { sessions } = await services();
        const session = await until('a session waits', () => sessions.stopped()?.session);
        const panel = await vscode.commands.executeCommand<MonitorPanel | undefined>('msvm.openMonitor', session);
        assert.ok(panel);
        await until('the page has two states', () => panel.states >= 2 || undefined);
        panel.dispose();
      } finally {
        await stop();
      }
    });

    test('a .bclog opens as a timeline', async () => {
      await write('steady.msasm', PROGRAM);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      const path = vscode.workspace.getConfiguration('msvm').get<string>('path', '');
      await new Promise((resolve) => spawn(path, ['run', 'steady.msasm', '-s', 'x=64x64', '-n', '50', '-q'], { cwd: workspace().fsPath, env: { ...process.env, MSVM_BC_TRACE: 'ms_bc_trace' } }).on('close', resolve));
      const [log] = await vscode.workspace.findFiles('ms_bc_trace/*.bclog');
      assert.ok(log);
      await vscode.commands.executeCommand('vscode.open', log);
      await until('its tab is there', () => {
        const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
        return (input instanceof vscode.TabInputCustom && input.viewType === 'msvm.timeline') || undefined;
      });
      assert.match(msvm('trace', 'compare', log.fsPath, log.fsPath), /Relu/);
    });
  });
