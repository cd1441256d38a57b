// The three faults of examples/faults, found by what the editor shows, on the ways that docs/faults.md tells.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { ROOT } from '../code_server.ts';
import { launched } from '../programs.ts';
import { story } from './story.ts';
import { THEME, Workbench } from './workbench.ts';

let code: Workbench;

beforeAll(async () => {
  const { env, settings } = launched();
  const look = { 'workbench.colorTheme': THEME, 'editor.minimap.enabled': false };
  code = await Workbench.open({ env, settings: { ...settings, ...look }, workspace: resolve(ROOT, '../examples/faults') });
});
afterAll(() => code.stop());

/** F5 on a program of the folder, with sizes as a user types them. */
async function debug(name: string, sizes: string): Promise<void> {
  await code.front(name);
  await code.page.locator('#status\\.editor\\.mode', { hasText: 'MSVM Assembly' }).waitFor(); // extensions are known; F5 needs no more of them
  await code.page.locator('.view-lines', { hasText: 'TENSOR_CREATE' }).first().click();
  await code.page.keyboard.press('F5');
  await code.answer('sizes of the inputs', sizes);
  await code.untilHighlighted(/TENSOR_CREATE input 0/);
  await code.command('Focus on MS Registers View');
  for (const pane of ['Variables', 'Watch', 'Call Stack', 'Loaded Scripts', 'Breakpoints']) await code.collapse(pane);
}

/** The session with the wrong program. */
async function end(): Promise<void> {
  await code.endSession();
  await code.command('View: Close All Editors');
}

/** Changes places of a file, each of which stands there once. */
function mend(name: string, ...places: readonly (readonly [wrong: string, right: string])[]): void {
  const path = join(code.folder, name);
  let text = readFileSync(path, 'utf8');
  for (const [wrong, right] of places) {
    expect(text.split(wrong), wrong).toHaveLength(2);
    text = text.replace(wrong, right);
  }
  writeFileSync(path, text);
}

const bench = () => code;

story('a broken binding', bench, (step) => {
  step('the sizes at the call lead from the output to the line that asks for the wrong axis', 'fault-binding', async () => {
    await debug('broken_binding.msasm', 'picture=1x3x48x64');
    await code.stepUntil(/OP_CALL Resize/);
    await code.register('R0: TensorMeta', '[batch=1, 3, height=48, width=64] f32 "picture"').waitFor();
    await code.register('R5: TensorMeta', '[batch=1, 3, height=96, width=96] f32 "large"').waitFor();
    await code.unfold('R5: TensorMeta');
    await code.register('declared', '[N, 3, R3, R4]').waitFor();
    await code.register('R4: i64', '96 "out_width"').waitFor();
    await code.register('R2: i64', '48 "width"').waitFor();
    await code.line(/R2 "width" = SHAPE_PROPAGATE R0, 2 .*; scale\.py:10/).waitFor();
  });

  step('with the axis that was meant, the output has the size that was meant', 'fault-binding-mended', async () => {
    await end();
    mend('broken_binding.msasm', ['"width" = SHAPE_PROPAGATE R0, 2', '"width" = SHAPE_PROPAGATE R0, 3']);
    await debug('broken_binding.msasm', 'picture=1x3x48x64');
    await code.stepUntil(/OP_CALL Resize/);
    await code.register('R5: TensorMeta', '[batch=1, 3, height=96, width=128] f32 "large"').waitFor();
  });
});

story('a wrong PHI', bench, (step) => {
  step('what is added is marked in each round, the total never is', 'fault-phi', async () => {
    await debug('wrong_phi.msasm', 'rows=3x4');
    for (let round = 0; round < 3; round++) {
      await code.stepUntil(/OP_CALL Add/);
      await code.stepUntil(/TENSOR_FREE R5/);
      await code.changed('R6: TensorMeta').waitFor();
      await code.register('R6: TensorMeta', '[1, F=4] f32 "added"').waitFor();
      await code.register('R3: TensorMeta', '[1, F=4] f32 "total"').waitFor();
      expect(await code.changed('R3: TensorMeta').count()).toBe(0);
    }
  });

  step('its values stay zero, those that were added aren’t', 'fault-phi-values', async () => {
    const total = await code.values('R3');
    const added = await code.values('R6');
    expect(total).toEqual([0, 0, 0, 0]);
    expect(added.every((value) => value !== 0)).toBe(true);
    await code.line(/R3 "total": f32\[1, F\] = TENSOR_PHI \[b0: R1, b2: R3\]/).waitFor();
    await end();
  });

  step('with what was added, the total changes', 'fault-phi-mended', async () => {
    mend('wrong_phi.msasm', ['b2: R3]', 'b2: R6]'], ['TENSOR_FREE R6', 'TENSOR_FREE R3']);
    await debug('wrong_phi.msasm', 'rows=3x4');
    await code.stepUntil(/OP_CALL Add/);
    await code.stepUntil(/SHAPE_CALC lt/);
    await code.changed('R3: TensorMeta').waitFor();
    expect((await code.values('R3')).every((value) => value !== 0)).toBe(true);
  });
});

story('a missing propagation', bench, (step) => {
  /** The analysis, as the report says it. */
  const analysis = async () => {
    await code.command('MSVM: Show SCD Analysis');
    const report = await code.webview('h1:has-text("SCD analysis")');
    const row = (name: string) => report.locator('tr', { has: report.locator(`td:first-child:has-text("${name}")`) }).first();
    return { report, row, close: () => code.closeTab('SCD analysis') };
  };

  step('the SCD analysis names the axes that nothing settles, and the border', 'fault-propagation', async () => {
    await debug('missing_propagation.msasm', 'features=1x8x16x16');
    const { report, row } = await analysis();
    expect(await row('features').innerText()).toMatch(/^features\s+0\.25/);
    expect(await row('up').innerText()).toMatch(/^up\s+0\.00.*Resize at neck\.py:5 computes axes 2, 3 at run time/s);
    expect(await report.locator('tr', { hasText: 'the call allocates its output' }).innerText()).toMatch(/1\s+Resize.*neck\.py:5/s);
    await report.locator('li', { hasText: /region 0: instructions 2 to 7, 2 calls/ }).waitFor();
  });

  step('at the call its sizes are symbols of their own', 'fault-propagation-call', async () => {
    await code.closeTab('SCD analysis');
    await code.stepUntil(/OP_CALL Sigmoid/);
    await code.register('R1: TensorMeta', '[N=1, 8, P=32, Q=32] f32 "up"').waitFor();
    await code.line(/-> new R1 "up": f32\[N, 8, P, Q\]/).waitFor();
    await end();
  });

  step('with sizes that are declared, one region takes in every call', 'fault-propagation-mended', async () => {
    mend('missing_propagation.msasm', ['OP_CALL Resize(R0; 2*H, 2*W) -> new R1 "up": f32[N, 8, P, Q]', 'R1 "up" = TENSOR_ALLOC [N, 8, 2*H, 2*W], f32, CPU(0)\n  OP_CALL Resize(R0; 2*H, 2*W) -> R1'], ['R2 "gate" = TENSOR_ALLOC [N, 8, P, Q]', 'R2 "gate" = TENSOR_ALLOC [N, 8, 2*H, 2*W]'], ['R3 "y" = TENSOR_ALLOC [N, 8, P, Q]', 'R3 "y" = TENSOR_ALLOC [N, 8, 2*H, 2*W]']);
    await debug('missing_propagation.msasm', 'features=1x8x16x16');
    const { report, row } = await analysis();
    await row('up').filter({ hasText: /0\.25/ }).waitFor(); // the preview has the former report until it is drawn anew
    expect(await row('up').innerText()).toMatch(/^up\s+0\.25/);
    await report.locator('li', { hasText: /region 0: instructions 1 to 8, 3 calls/ }).waitFor();
    expect(await report.locator('tr', { hasText: 'the call allocates its output' }).count()).toBe(0);
  });
});
