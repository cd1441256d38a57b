// A Python program with a jitted function: into its bytecode, through a call, past a hot patch, out again, and to the end; then a module.
import { afterAll, beforeAll, expect } from 'vitest';
import { launched } from '../programs.ts';
import { story } from './story.ts';
import { THEME, Workbench } from './workbench.ts';

let code: Workbench;

beforeAll(async () => {
  const { env, settings } = launched();
  code = await Workbench.open({ env, settings: { ...settings, 'msvm.debugMode': true, 'workbench.colorTheme': THEME } });
});
afterAll(() => code.stop());

const bench = () => code;

story('a Python program', bench, (step) => {
  step('F5 without a launch file stops where the breakpoint is', 'python-breakpoint', async () => {
    await code.openFile('model.py');
    await code.lens('Debug with MSVM').waitFor();
    await code.toggleBreakpoint(18);
    await code.page.keyboard.press('F5');
    await code.untilHighlighted(/y = neck\(x, w\)/);
  });

  step('stepping into the jitted function goes on in its bytecode', 'python-bytecode', async () => {
    await code.page.keyboard.press('F11');
    await code.untilHighlighted(/R0 "x" = TENSOR_CREATE input 0/);
    expect(await code.mode().innerText()).toBe('MS-VM: BC-Interpreter Mode');
    await code.stack().filter({ hasText: /BC-Instruction: TENSOR_CREATE offset 0x[0-9a-f]+/ }).waitFor();
    await code.stack().filter({ hasText: /^main/ }).waitFor(); // frames below the first come later
    const frames = await code.stack().allInnerTexts();
    const bytecode = frames.findIndex((frame) => frame.startsWith('BC-Instruction'));
    expect(frames.findIndex((frame) => frame.startsWith('main'))).toBeGreaterThan(bytecode);
  });

  step('at a call the registers have the sizes of this run', 'python-call', async () => {
    await code.command('Focus on MS Registers View');
    for (;;) {
      const line = await code.highlighted();
      if (line.includes('OP_CALL')) break;
      expect(line, 'no call before the end').not.toContain('RETURN');
      await code.page.keyboard.press('F10');
      await code.untilHighlighted(new RegExp(`^(?!${line.replaceAll(/[^\w ]/g, '.')})`));
    }
    const x = code.registers().filter({ hasText: 'R0: TensorMeta' });
    await x.filter({ hasText: '[x_0=2, x_1=3, x_2=64, x_3=64] f32 "x"' }).waitFor();
    for (const pane of ['Watch', 'Breakpoints', 'Loaded Scripts', 'Variables']) await code.collapse(pane);
    await x.click();
    await code.page.keyboard.press('ArrowRight');
    for (const field of ['dtype', 'strides', 'memory_addr', 'is_jit_compiled']) await code.registers().filter({ hasText: field }).first().waitFor();
    await code.registers().filter({ hasText: '[12288, 4096, 64, 1]' }).waitFor();
  });

  step('its values are drawn', 'python-values', async () => {
    await code.registers().filter({ hasText: 'R0: TensorMeta' }).hover();
    await code.registers().filter({ hasText: 'R0: TensorMeta' }).locator('.action-label[aria-label="View Values"]').click();
    const page = await code.webview('.figures');
    await page.locator('td').nth(100).waitFor();
    expect(await page.locator('h1').innerText()).toMatch(/R0.*f32 \[2, 3, 64, 64\]/s);
    await page.locator('nav button', { hasText: 'Picture' }).click();
    await page.locator('.picture canvas').first().waitFor();
  });

  step('stepping out is back in Python', 'python-out', async () => {
    await code.page.locator('.tabs-container .tab', { hasText: 'values' }).locator('.codicon-close').click();
    await code.page.keyboard.press('Shift+F11');
    await code.untilHighlighted(/neck\(x, w\)|print\(step/);
  });

  step('the hot patch is seen, and the end is clean', 'python-patched', async () => {
    await code.command('Remove All Breakpoints');
    await code.page.keyboard.press('F5');
    await code.notification(/hot patch/).first().waitFor();
    await code.mode().waitFor({ state: 'hidden' });
    await code.debugConsole('11 (2, 4, 64, 64)').waitFor();
  });
});

story('a module', bench, (step) => {
  step('F5 on a module asks for open sizes, and stops at its first instruction', 'module', async () => {
    await code.openFile('neck.msasm');
    await code.page.locator('.tab.active', { hasText: 'neck.msasm' }).waitFor();
    await code.page.locator('.view-lines', { hasText: 'OP_CALL' }).first().click();
    await code.page.keyboard.press('F5');
    const sizes = code.page.locator('.quick-input-widget input').first();
    await sizes.waitFor();
    expect(await sizes.inputValue()).toBe('x=8x8 y=8');
    await sizes.fill('x=3x5 y=5');
    await code.page.keyboard.press('Enter');
    await code.untilHighlighted(/TENSOR_CREATE input 0/);
    await code.page.keyboard.press('F10');
    await code.untilHighlighted(/TENSOR_CREATE input 1/);
    await code.registers().filter({ hasText: 'R0: TensorMeta' }).filter({ hasText: '3' }).filter({ hasText: '5' }).waitFor();
  });

  step('the console evaluates expressions, and shows tables', 'module-console', async () => {
    await code.ask('shape(R0)[1] * 2');
    await code.debugConsole('10').waitFor();
    await code.ask('ms.vm.memory()');
    await code.debugConsole('reserved').waitFor();
    await code.page.keyboard.press('Shift+F5');
    await code.mode().waitFor({ state: 'hidden' });
  });
});
