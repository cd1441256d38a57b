// Texts, traces and the monitor, as a user sees them.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launched } from '../programs.ts';
import { Workbench } from './workbench.ts';

const NECK = `module "neck" version 1
symbol N in [1, 64], H multiple_of 32, W multiple_of 32
const %scale f32[2] = [1, 0.5]

func @forward(x: f32[N, 128, H, W]) -> (y: f32[N, 64, 2*H, K])
b0:
  R0 "x" = TENSOR_CREATE input 0, [(batch, N), (channel, 128), (height, H), (width, W)]
  R1 = SHAPE_PROPAGATE R0, 2                              ; model.py:12
  R2 = SHAPE_CALC mul R1, 2
  R3: f32[N, 64, H, W] strided = TENSOR_VIEW slice R0, axis 1 from 0 to 64
  R5 = SHAPE_PROPAGATE R0, 3
  R4 = TENSOR_ALLOC [(batch, N), (channel, 64), (height, R2), (width, W)], f32, CPU(0)
  OP_CALL Resize(R3; R2, 2*W) -> R4 {axes: [2, 3], mode: "nearest"}   ; model.py:14
  TENSOR_FREE R3
  RETURN R4
`;
const CHAIN = `module "chain" version 1
func @main(x: f32[N, M]) -> (f32[N, M])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Relu(R0) -> R1                  ; chain.py:3
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Exp(R1) -> R2                   ; chain.py:4
  TENSOR_FREE R1
  R3 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Softmax(R2) -> R3 {axis: 1}     ; chain.py:5
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Add(R3, R0) -> R4               ; chain.py:6
  TENSOR_FREE R3
  RETURN R4
`;
const SOURCE = '# what chain.msasm was made from\n\ndef chain(x):\n    y = relu(x)\n    y = softmax(exp(y))\n    return y + x\n';

const { env, settings } = launched();
const msvm = String(settings['msvm.path']);
const programs: ChildProcess[] = [];

describe.each(['Default Dark Modern', 'Default Light Modern'])('in %s', (theme) => {
  const look = theme.includes('Dark') ? 'dark' : 'light';
  let bench: Workbench;

  beforeAll(async () => {
    bench = await Workbench.open({ env, settings: { ...settings, 'workbench.colorTheme': theme, 'editor.minimap.enabled': false } });
    bench.page.setDefaultTimeout(40_000);
    for (const [name, text] of Object.entries({ 'up.msasm': NECK, 'chain.msasm': CHAIN, 'chain.py': SOURCE })) writeFileSync(join(bench.folder, name), text);
    execFileSync(msvm, ['asm', 'up.msasm', '-o', 'up.msbc'], { cwd: bench.folder });
    // Long enough for native code to come, where there is a compiler.
    const run = (folder: string, sizes: string) => execFileSync(msvm, ['run', 'chain.msasm', '-s', `x=${sizes}`, '-n', '8000', '-q', '--jit-threshold', '4'], { cwd: bench.folder, env: { ...process.env, MSVM_BC_TRACE: folder } });
    run('ms_bc_trace', '64x256');
    run('before', '64x200');
  });
  afterAll(async () => {
    for (const program of programs.splice(0)) {
      const ended = program.exitCode ?? program.signalCode;
      if (ended === null) await new Promise((resolve) => program.once('exit', resolve).kill());
    }
    await bench.stop();
  });

  it('a text is coloured, its finding underlined, and the light bulb mends it', async () => {
    const { page } = bench;
    await bench.openFile('up.msasm');
    await page.locator('.squiggly-error').first().waitFor();
    // The grammar colours mnemonics and registers differently.
    const colour = (text: string) => page.locator('.view-line span span', { hasText: new RegExp(`^\\s*${text}\\s*$`) }).first().evaluate((span) => getComputedStyle(span).color);
    expect(await colour('TENSOR_ALLOC')).not.toBe(await colour('R4'));
    await bench.command('MSVM: Validate BC File');
    await bench.notification('1 finding, 1 with a quick fix').waitFor();
    await page.locator('.markers-panel .monaco-list-row', { hasText: 'Missing SHAPE_CALC from W to 2*W' }).waitFor();
    await page.locator('.view-line', { hasText: 'TENSOR_ALLOC' }).first().click({ position: { x: 150, y: 8 } });
    await page.keyboard.press('Control+.');
    const fix = page.locator('.action-widget .monaco-list-row', { hasText: 'Insert R6 = SHAPE_CALC mul R5, 2, write R6' });
    await fix.waitFor();
    await bench.picture(`editors_validate_${look}`);
    await page.keyboard.press('Enter'); // the widget lets no click through while it is open
    await page.locator('.view-line', { hasText: /R6\s=\sSHAPE_CALC\smul\sR5/ }).waitFor();
    await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
  });

  it('a hover has the instruction’s equation', async () => {
    const { page } = bench;
    await page.locator('.view-line span span', { hasText: /^\s*Resize$/ }).first().hover();
    await page.locator('.monaco-hover', { hasText: 'Resize(X' }).first().waitFor();
    await bench.picture(`editors_hover_${look}`);
  });

  it('a .msbc opens as text, and says what is wrong with it', async () => {
    const { page } = bench;
    await bench.openFile('up.msbc');
    await page.locator('.tab.active', { hasText: 'up.msbc' }).waitFor();
    await page.locator('.view-line', { hasText: 'module' }).first().waitFor();
    await page.locator('.squiggly-error').first().waitFor();
    expect(await page.locator('#status\\.editor\\.mode').innerText()).toBe('MSVM Bytecode');
    await bench.picture(`editors_msbc_${look}`);
  });

  it('a trace is a timeline: outliers, search, the instruction, another log', async () => {
    const { page } = bench;
    await bench.command('View: Close All Editors');
    await bench.command('Notifications: Clear All Notifications');
    await page.keyboard.press('Control+J'); // the panel with the problems
    const [log] = readdirSync(join(bench.folder, 'ms_bc_trace')).filter((name) => name.endsWith('.bclog'));
    await bench.openFile(log ?? '');
    const frame = await bench.webview('canvas.tracks');
    await frame.locator('.chip', { hasText: 'runs' }).waitFor();
    expect(await frame.locator('.chip', { hasText: 'runs' }).innerText()).toBe('8,000 runs');
    await frame.locator('input[type=search]').fill('softmax');
    await frame.locator('.count', { hasText: 'found' }).waitFor();
    await frame.locator('input[type=search]').press('Enter');
    await frame.locator('.selection h2', { hasText: 'Softmax' }).waitFor();
    await bench.picture(`editors_timeline_${look}`);
    await frame.locator('[role=tab]', { hasText: 'Instructions' }).click();
    await frame.locator('tbody tr', { hasText: 'Softmax' }).first().waitFor();
    await frame.locator('button', { hasText: 'Fit' }).click();
    await bench.picture(`editors_timeline_all_${look}`);
    await frame.locator('button', { hasText: 'Compare…' }).click();
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'before/' }).click();
    await frame.locator('.lead', { hasText: 'Medians of' }).waitFor();
    const softmax = frame.locator('.pair', { hasText: 'Softmax' });
    await softmax.locator('.ratio', { hasText: /^\d+\.\d\d ×$/ }).waitFor();
    const ratio = Number.parseFloat(await softmax.locator('.ratio').innerText());
    const widths = await softmax.locator('.lane i').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(widths).toHaveLength(2);
    const [before = 0, after = 0] = widths;
    expect(Math.abs(after - before * ratio)).toBeLessThan(1.5 + 0.005 * before); // a pixel is the least, and the ratio is rounded
    await bench.picture(`editors_compare_${look}`);
    await frame.locator('tbody tr', { hasText: 'Softmax' }).getByRole('button', { name: /^instruction/ }).click();
    await page.locator('.view-line', { hasText: /OP_CALL\sSoftmax/ }).waitFor();
    await frame.locator('tbody tr', { hasText: 'Softmax' }).getByRole('button', { name: 'chain.py:5' }).click();
    await page.locator('.view-line', { hasText: 'softmax(exp(y))' }).waitFor();
  });

  it('JIT Monitor follows a program that runs', async () => {
    await bench.command('View: Close All Editors');
    const program = spawn(msvm, ['run', 'chain.msasm', '-s', 'x=64x256', '-n', '1000000', '-q', '--jit-threshold', '4', '--monitor', '127.0.0.1:0'], { cwd: bench.folder, env: { ...process.env, ...env } });
    programs.push(program);
    const url = await new Promise<string>((resolve) => {
      let said = '';
      program.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const found = /monitor: (http:\S+)/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    await bench.command('MSVM: Open JIT Monitor'); // the only process that serves one is taken without a question
    const frame = await bench.webview('.monitor .status-live');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    const runs = frame.locator('.process');
    await runs.waitFor();
    const first = await runs.innerText();
    await expect.poll(() => runs.innerText(), { timeout: 15_000 }).not.toBe(first);
    await frame.locator('#cache').scrollIntoViewIfNeeded();
    await frame.locator('h1').scrollIntoViewIfNeeded();
    await bench.picture(`editors_monitor_${look}`);
  });
});

it('the pictures of the walkthrough are files', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { contributes: { walkthroughs: { steps: { media: Record<string, string> }[] }[] } };
  for (const { media } of manifest.contributes.walkthroughs.flatMap((w) => w.steps)) expect(readFileSync(join(import.meta.dirname, '../..', media.svg ?? media.markdown ?? '')).length).toBeGreaterThan(100);
});
