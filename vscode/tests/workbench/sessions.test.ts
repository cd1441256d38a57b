// Sessions of each kind, as a user sees them: a model from ONNX, native code, a process that runs, and what goes wrong.
import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { ROOT } from '../code_server.ts';
import { launched } from '../programs.ts';
import { story } from './story.ts';
import { THEME, Workbench } from './workbench.ts';

const MISMATCH = `module "mismatch" version 1
symbol N, M

func @main(x: f32[N, M], y: f32[N, M]) -> (o: f32[N, M])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R2 "o" = TENSOR_ALLOC [N, M], f32, CPU(0)
  R1 "y" = TENSOR_CREATE input 1
  OP_CALL Add(R0, R1) -> R2
  RETURN R2
`;
const UNVERIFIED = `module "unverified" version 1

func @main(x: f32[2]) -> (y: f32[2])
b0:
  R0 = TENSOR_CREATE input 0, [2]
  R1 = TENSOR_ALLOC [3], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
`;
const LOADS = `import msvm as ms


def main() -> None:
    ms.load("unverified.msasm")


main()
`;
/** Compiles `work`, and then runs it until a file is there. */
const NATIVE = `import os
import sys

import numpy as np

import msvm as ms


@ms.jit
def work(x: ms.Tensor) -> ms.Tensor:
    y = x * 2.0
    return ms.ops.relu(y + 1.0)


x = ms.Tensor(np.ones((64, 64), np.float32))
for _ in range(20):
    work(x)
print("compiled", ms.vm.wait_compiled(work, timeout=60), flush=True)
runs = 0
while not os.path.exists(sys.argv[1]):
    out = work(x)
    runs += 1
print("sum", float(np.asarray(out).sum()), flush=True)
`;
const INSIDE = 11;
const COMPILED = 18;
/** Every kernel of Relu but the plain one goes. */
const PATCH = JSON.stringify({ format: 1, device: 'CPU(0)', isa: 'avx2', sections: { matmul_any: [{ name: 'ref_matmul' }] } });

const { env, settings } = launched();
const programs: ChildProcess[] = [];
let code: Workbench;

beforeAll(async () => {
  code = await Workbench.open({ env, settings: { ...settings, 'msvm.debugMode': true, 'workbench.colorTheme': THEME, 'editor.minimap.enabled': false } });
  const files = { 'mismatch.msasm': MISMATCH, 'unverified.msasm': UNVERIFIED, 'loads.py': LOADS, 'native.py': NATIVE, 'patch.json': PATCH };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(code.folder, name), text);
  copyFileSync(resolve(ROOT, '../fuzz/corpus/onnx/conv.onnx'), join(code.folder, 'conv.onnx'));
  await code.ready();
});
afterAll(async () => {
  programs.forEach((program) => program.kill());
  await code.stop();
});

const bench = () => code;

story('a model from ONNX', bench, (step) => {
  step('F5 on a model from ONNX asks for its open sizes, and steps its bytecode', 'session-onnx', async () => {
    await code.front('conv.onnx');
    await code.page.keyboard.press('F5');
    await code.answer('sizes of the inputs', 'x=1x2x4x4');
    await code.untilHighlighted(/TENSOR_C/);
    await code.stepUntil(/OP_CALL/);
    await code.command('Focus on MS Registers View');
    await code.register('R0: TensorMeta', '[b=1, 2, h=4, w=4] f32 "x"').waitFor();
  });
});

story('a run that fails', bench, (step) => {
  step('a run that fails says what was expected, what was found, and what mends it', 'session-failure', async () => {
    await code.front('mismatch.msasm');
    await code.page.keyboard.press('F5');
    await code.answer('sizes of the inputs', 'x=2x3 y=2x4');
    const widget = await code.exception();
    await widget.filter({ hasText: /input 1 \(y\): expected f32\[N, M\], found f32\[2, 4\]: axis 1 must be 3/ }).waitFor();
    await widget.filter({ hasText: 'fix: give inputs whose sizes fit each other' }).waitFor();
  });

  step('it goes on to its end', 'session-failure-end', async () => {
    await code.page.keyboard.press('F5');
    await code.debugConsole('error:').waitFor();
    await code.mode().waitFor({ state: 'hidden' });
  });
});

story('a module that doesn’t verify', bench, (step) => {
  step('a module that doesn’t verify ends the step that loads it, with the report', 'session-unverified', async () => {
    await code.front('loads.py');
    await code.toggleBreakpoint(5);
    await code.page.keyboard.press('F5');
    await code.untilHighlighted(/ms\.load/);
    await code.page.keyboard.press('F11');
    const report = code.notification(/unverified\.msasm does not verify: MSV\d+/);
    await report.waitFor();
    await code.page.locator('.notification-list-item', { hasText: 'does not verify' }).locator('.monaco-button', { hasText: 'Show' }).click();
    await code.page.locator('.markers-panel .monaco-list-row', { hasText: 'unverified.msasm' }).waitFor();
    await code.page.locator('.markers-panel .monaco-list-row', { hasText: /axis 0 is 3 where 2 is given.*MSV0401.*Ln 6/ }).waitFor();
  });

  step('the program ends on its own then', 'session-unverified-end', async () => {
    await code.page.keyboard.press('F5');
    await code.mode().waitFor({ state: 'hidden' });
  });
});

story('native code', bench, (step) => {
  step('native code is seen where it runs: mode, tint, entry', 'session-native', async () => {
    await code.front('native.py');
    await code.toggleBreakpoint(COMPILED + 1);
    await code.debugBy({ name: 'in native code', program: '${workspaceFolder}/native.py', args: ['stop'], native: 'stay', stopOnEntry: false });
    await code.untilHighlighted(/runs = 0/);
    await code.command('Remove All Breakpoints');
    await code.front('native.py');
    await code.toggleBreakpoint(INSIDE);
    await code.page.keyboard.press('F5');
    await code.stack().filter({ hasText: /BC-Instruction/ }).first().waitFor();
    await code.untilHighlighted(/TENSOR_ALLOC/); // the first instruction of the region
    const tier = code.page.locator('.monaco-hover', { hasText: /Tier [12]: native code/ }).first();
    const pointed = async () => {
      await code.page.mouse.move(900, 500); // a hover that a refresh has closed comes again only when the pointer has been elsewhere
      await code.line(/TENSOR_ALLOC/).hover({ position: { x: 80, y: 8 } });
      return tier.waitFor({ timeout: 3000 }).then(() => true, () => false);
    };
    await expect.poll(pointed, { timeout: 120_000 }).toBe(true);
    await code.picture('session-native-tier');
    await code.command('Remove All Breakpoints');
    await code.page.keyboard.press('F5');
    await expect.poll(() => code.mode().innerText(), { timeout: 120_000 }).toMatch(/^MS-VM: JIT Mode \(.+\)$/);
  });

  step('the machine code of its entry opens', 'session-native-code', async () => {
    await code.command('Debug Console: Focus on Debug Console View');
    await code.debugConsole('tier 1 -> 2').waitFor(); // so that there is one for any sizes, and one for these
    await code.command('MSVM: Disassemble JIT Entry');
    await code.page.locator('.quick-input-list .monaco-list-row', { hasText: /tier 2, \d+ hits/ }).click();
    await code.page.locator('.tab.active', { hasText: '.asm' }).waitFor();
    await code.line(/0x[0-9a-f]+ +v?mov/).waitFor();
  });

  step('the SCD analysis has figures of what runs', 'session-native-scd', async () => {
    await code.command('MSVM: Show SCD Analysis');
    const report = await code.webview('h1:has-text("SCD analysis")');
    await report.locator('p', { hasText: /runs; hit rate [\d.]+ %/ }).waitFor();
    await report.locator('tr', { hasText: /native\.py:1[12]/ }).first().waitFor();
  });

  step('a capability patch is loaded into what runs', 'session-native-patch', async () => {
    await code.command('MSVM: Load Capability Patch');
    // Picked from the dialog's list: it writes its own folder over what is typed too early.
    await code.page.locator('.quick-input-list .monaco-list-row', { hasText: 'patch.json' }).click();
    await code.notification('The capability patch patch.json is loaded.').waitFor();
  });
});

story('a process', bench, (step) => {
  step('a process that runs is attached to, and left running', 'session-attach', async () => {
    const stop = join(code.folder, 'stop');
    const program = spawn(String(settings['msvm.python']), [join(code.folder, 'native.py'), stop], { env: { ...process.env, ...env, MSVM_DEBUG: '127.0.0.1:0' } });
    programs.push(program);
    let said = '';
    program.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    program.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await expect.poll(() => said, { timeout: 120_000 }).toContain('compiled');
    await code.front('native.py');
    await code.toggleBreakpoint(INSIDE);
    await code.command('MSVM: Attach to a Process');
    const row = code.page.locator('.quick-input-list .monaco-list-row', { hasText: String(program.pid) });
    await row.filter({ hasText: 'native.py' }).waitFor();
    await code.picture('session-attach-pick');
    await row.click();
    await code.stack().filter({ hasText: /BC-Instruction/ }).first().waitFor();
    await code.command('Remove All Breakpoints');
    await code.endSession();
    writeFileSync(stop, '');
    await expect.poll(() => said, { timeout: 120_000 }).toContain('sum 12288.0');
    rmSync(stop);
  });
});

story('without debugpy', bench, (step) => {
  step('an interpreter without debugpy is told, with the command that mends it', 'session-no-debugpy', async () => {
    const without = join(code.folder, 'without');
    mkdirSync(without);
    writeFileSync(join(without, 'sitecustomize.py'), 'import sys\n\nsys.modules["debugpy"] = None\n');
    await code.debugBy({ name: 'without debugpy', program: '${workspaceFolder}/model.py', stopOnEntry: true, env: { PYTHONPATH: `${without}:${env.PYTHONPATH ?? ''}` } });
    await code.untilHighlighted(/TENSOR_CREATE input 0/);
    const told = code.page.locator('.notification-list-item', { hasText: '-m pip install debugpy' });
    await told.locator('.monaco-button', { hasText: 'Install debugpy' }).waitFor();
    await told.locator('.monaco-button', { hasText: 'Copy Command' }).waitFor();
    await code.command('Debug Console: Focus on Debug Console View');
    await code.debugConsole('-m pip install debugpy').waitFor();
  });
});
