// What a page shows of a program whose every step is known.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it, afterAll } from 'vitest';
import { launch, open } from '../browser.ts';
import { bigState, disassemblyOf, FALLBACK_AT, stateAt } from '../scenario/camera.ts';
import { TestMonitor } from '../server.ts';

describe('a scripted program', () => {
  let browser: Browser;
  let monitor: TestMonitor;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    monitor = await TestMonitor.start();
  });
  afterEach(async () => {
    await page.context().close();
    await monitor.stop();
  });

  const visit = async (options: BrowserContextOptions = {}) => ({ page, complaints } = await open(browser, monitor.url, options));
  /** Steps to the state of a number, and waits until the page shows it. */
  const go = async (step: number) => {
    monitor.advance(step - monitor.step);
    await page.getByText(`up ${stateAt(step).uptime_s >= 192 ? `3 m ${step + 12 < 60 ? String(step + 12).padStart(2, '0') : ''}` : ''}`).first().waitFor();
  };
  const row = (name: string) => page.locator('#cache tbody tr', { hasText: name });

  describe('the cache', () => {
    it('lights up entries that were hit, and only these', async () => {
      await visit();
      await go(1);
      await page.locator('#cache tr.hit').first().waitFor();
      expect(await row('H1080_W1920').getAttribute('class')).toBe('hit');
      expect(await row('H2160_W3840').getAttribute('class')).toBe('');
      expect(await row('H1080_W1920').locator('td.num').nth(1).innerText()).toBe('4\u202f240');
      expect(complaints).toEqual([]);
    });

    it('turns red where a region fell back, and warns', async () => {
      await visit();
      await go(FALLBACK_AT - 1);
      expect(await page.locator('tr.fell').count()).toBe(0);
      await go(FALLBACK_AT);
      await page.locator('tr.fell').waitFor();
      expect(await row('77ab01d9').getAttribute('class')).toBe('fell');
      const warning = page.locator('.warning').first();
      expect(await warning.innerText()).toMatch(/Fallback triggered at line 72 detect\.py:72/);
      expect(await warning.getAttribute('class')).toContain('severity-error');
      expect(await page.locator('#warnings [aria-live=polite]').innerText()).toBe('New warning: Fallback triggered at line 72 detect.py:72');
    });

    it('announces nothing of what was there before', async () => {
      monitor.step = FALLBACK_AT + 1;
      await visit();
      await go(FALLBACK_AT + 2);
      expect(await page.locator('#warnings [aria-live=polite]').innerText()).toBe('');
    });

    it('sorts by any column, either way', async () => {
      await visit();
      const hits = () => page.locator('#cache tbody td:nth-child(6)').allInnerTexts();
      const numbers = async () => (await hits()).map((t) => Number(t.replaceAll('\u202f', '')));
      const down = [...(await numbers())].sort((a, b) => b - a);
      expect(await numbers()).toEqual(down);
      await page.locator('#cache').getByRole('button', { name: 'Hits' }).click();
      expect(await numbers()).toEqual([...down].reverse());
      expect(await page.locator('#cache th[aria-sort=ascending]').innerText()).toBe('Hits');
      await page.locator('#cache').getByRole('button', { name: 'Signature' }).click();
      const names = await page.locator('#cache .row-name').allTextContents();
      expect(names.length).toBe(9);
      expect(names[0]).toContain('9c04e7d2_B*_S0-32'); // numbers count as numbers
    });

    it('filters by words in any column', async () => {
      await visit();
      await page.getByLabel('Filter JIT Cache').fill('encoder settled');
      await page.getByText('No row fits “encoder settled”.').waitFor();
      await page.getByLabel('Filter JIT Cache').fill('ENCODER b*_s');
      expect(await page.locator('#cache tbody tr').count()).toBe(5);
      expect(await page.locator('#cache .panel-count').innerText()).toBe('5 of 9');
    });

    it('opens code from the context menu, too', async () => {
      await visit();
      await row('H2160_W3840').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Show disassembly' }).click();
      expect(await page.getByRole('dialog').getAttribute('aria-label')).toBe('Disassembly of jit_cache_237a4b1c_N*_H2160_W3840');
    });

    it('has the menu for keyboards', async () => {
      await visit();
      await page.getByRole('button', { name: 'Actions for jit_symbolic_77ab01d9' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('[role=menuitem]:focus').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await page.getByLabel('Filter JIT Cache').inputValue()).toBe('@main instructions 149 to 203');
      await page.getByRole('button', { name: 'Actions for jit_symbolic_77ab01d9' }).press('Enter');
      await page.locator('[role=menuitem]:focus').waitFor();
      await page.keyboard.press('Escape');
      expect(await page.getByRole('menu').count()).toBe(0);
    });

    it('goes from row to row by arrow keys', async () => {
      await visit();
      await page.locator('#cache .row-name').first().focus();
      await page.keyboard.press('ArrowDown');
      expect(await page.locator('#cache .row-name').nth(1).evaluate((e) => e === document.activeElement)).toBe(true);
    });
  });

  describe('disassembly', () => {
    const openCode = async (name = 'H1080_W1920') => {
      await visit();
      await row(name).locator('.row-name').click();
    };
    const lit = (side: string) => page.locator(`.${side} .line.lit .line-text`).allInnerTexts();

    it('begins with findings, each of which leads to its line', async () => {
      await openCode();
      await page.locator('.listings').waitFor();
      expect(await page.locator('.finding').count()).toBe(3);
      expect(await page.locator('.drawer-body > *').first().innerText()).toContain('Findings');
      await page.getByRole('button', { name: 'group 0, line 11' }).click();
      expect(await page.locator('.asm .line.cursor').innerText()).toContain('mov rax, qword ptr [rbp - 0x20]');
      expect(await page.locator('.asm .line.mark').count()).toBe(2);
    });

    it('lights up both sides of what is pointed at', async () => {
      await openCode();
      await page.locator('.asm .line').nth(13).hover();
      expect(await lit('asm')).toEqual(['vmulps zmm2, zmm0, zmm1']);
      expect((await lit('ir')).map((t) => t.trim())).toEqual(['%m = mul %a, %b']);
      expect(await lit('bc')).toEqual(['R17 = OP_CALL Mul R16, R5']);
      expect(await page.locator('.chip.lit').allInnerTexts()).toEqual(['detect.py:47']);
      await page.locator('.ir .line').nth(10).hover();
      expect(await lit('asm')).toEqual(['vbroadcastss zmm5, dword ptr [rip + 0x1be]', 'vxorps xmm6, xmm6, xmm6', 'vminps zmm3, zmm3, zmm5', 'vmaxps zmm3, zmm3, zmm6']);
      await page.locator('.bc .line').nth(1).hover();
      expect(await lit('asm')).toEqual(['vbroadcastss zmm4, dword ptr [rip + 0x1c0]', 'vaddps zmm3, zmm2, zmm4']);
      await page.locator('.drawer .chip', { hasText: 'detect.py:49' }).hover();
      expect(await lit('bc')).toEqual(['R20 = OP_CALL Mul R17, R19']);
    });

    it('goes through lines by keys', async () => {
      await openCode();
      await page.locator('.asm .listing-box').focus();
      for (let k = 0; k < 14; ++k) await page.keyboard.press('ArrowDown');
      expect((await lit('ir')).map((t) => t.trim())).toEqual(['%m = mul %a, %b']);
    });

    it('draws the part of a long listing that is seen', async () => {
      monitor.disassembly = (entry) => disassemblyOf(entry, 400);
      await openCode();
      await page.getByText('11\u202f200 lines').waitFor();
      expect(await page.locator('.asm .line').count()).toBeLessThan(120);
      await page.locator('.asm .listing-box').press('End');
      await page.locator('.asm .line', { hasText: '0x1067a' }).waitFor();
      expect(await page.locator('.asm .line').count()).toBeLessThan(120);
    });

    it('says why there is none', async () => {
      await openCode('b1aa90f3');
      await page.getByText('The disassembly can’t be shown: there is no entry jit_symbolic_b1aa90f3: it was retired').waitFor();
    });
  });

  describe('the connection', () => {
    it('says that it is lost, tries again, and goes on', async () => {
      await visit();
      const back = await monitor.vanish();
      await page.locator('#lost').waitFor();
      expect(await page.locator('#lost').innerText()).toContain('The program can’t be reached');
      expect(await page.locator('.status').innerText()).toBe('Disconnected');
      expect(await page.locator('#cache tbody tr').count()).toBe(9); // what was known stays
      await back();
      monitor.step = 3;
      await page.getByRole('button', { name: 'Try now' }).click();
      await page.locator('#lost').waitFor({ state: 'detached' });
      await page.getByText('up 3 m 15 s').waitFor();
    });

    it('comes back by itself', async () => {
      await visit();
      const back = await monitor.vanish();
      await page.locator('#lost').waitFor();
      await back();
      await page.locator('.status-live').waitFor({ timeout: 20_000 });
    });

    it('says that a token is wanted', async () => {
      await visit();
      monitor.refuse = 401;
      const back = await monitor.vanish();
      await back();
      await page.getByText('The program wants a token').waitFor({ timeout: 20_000 });
    });
  });

  describe('one program of several', () => {
    it('can be chosen', async () => {
      await visit();
      await page.getByLabel('Program', { exact: true }).selectOption('encoder');
      expect(await page.locator('#cache tbody tr').count()).toBe(5);
      expect(await page.locator('.region h3').count()).toBe(1);
      expect(await page.locator('.rate b').innerText()).toBe('90.4 %');
    });

    it('that has ended is let go', async () => {
      await visit();
      await page.getByLabel('Program', { exact: true }).selectOption('encoder');
      monitor.state = (k) => ({ ...stateAt(k), programs: stateAt(k).programs.slice(0, 1) });
      monitor.advance();
      await page.getByText('All programs (1)').waitFor({ state: 'attached' });
      expect(await page.locator('#cache tbody tr').count()).toBe(4);
    });
  });

  describe('actions', () => {
    it('are asked of the program', async () => {
      await visit();
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Turn tracing on' }).click();
      page.once('dialog', (dialog) => void dialog.accept());
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Clear cache: encoder' }).click();
      await expect.poll(() => monitor.acts).toEqual([
        { action: 'trace', body: { on: true } },
        { action: 'clear_cache', body: { program: 2 } },
      ]);
    });

    it('that are refused say why', async () => {
      await visit();
      await page.route('**/actions/trace', (route) => route.fulfill({ status: 403, json: { error: 'this token may only read' } }));
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Turn tracing on' }).click();
      await page.getByText('The program refused: this token may only read').waitFor();
    });

    it('aren’t offered to those who may only read', async () => {
      monitor.state = (k) => ({ ...stateAt(k), role: 'read' });
      await visit();
      await page.getByText('Read only').waitFor();
      expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    });
  });

  it('shows bad values as none instead of breaking', async () => {
    monitor.state = (k) => ({ ...stateAt(k), programs: [{ id: 'x', regions: [null, { shapes: 3, entries: [{}] }] }], memory: null, queues: [{ running: { phase: 'link' } }], alerts: 'none' }) as never;
    await visit();
    await page.getByText('No engine is running.').waitFor();
    await page.locator('.phases .now', { hasText: 'link' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows markup in names as text', async () => {
    monitor.state = (k) => ({ ...stateAt(k), command: '<img src=x onerror=alert(1)>' });
    await visit();
    expect(await page.locator('.command').innerText()).toBe('<img src=x onerror=alert(1)>');
    expect(complaints).toEqual([]);
  });

  it('says that it is made for another version', async () => {
    monitor.state = (k) => ({ ...stateAt(k), version: 2 });
    await visit();
    await page.getByText('This page is made for version 1 of the data; the program sends version 2.').waitFor();
  });

  describe('2000 entries', () => {
    it('are there, though only those seen are drawn', async () => {
      monitor.state = (k) => bigState(k, 2000);
      await visit();
      expect(await page.locator('#cache .panel-count').innerText()).toBe('2\u202f006');
      expect(await page.locator('#cache tbody tr').count()).toBeLessThan(60);
      await page.locator('#cache .table-box').evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await row('b1aa90f3').waitFor();
      expect(await page.locator('#cache tbody tr').count()).toBeLessThan(60);
    });

    it('are drawn anew only where they changed', async () => {
      monitor.state = (k) => {
        const state = bigState(0, 2000);
        const [detect, ...rest] = state.programs;
        const [region, ...others] = detect?.regions ?? [];
        const entries = region?.entries.map((e, n) => (n === 3 ? { ...e, hits: e.hits + 3 * k } : e)) ?? [];
        return { ...state, uptime_s: 192 + k, programs: detect && region ? [{ ...detect, regions: [{ ...region, entries }, ...others] }, ...rest] : [] };
      };
      await visit();
      await page.evaluate(() => {
        const touched = new Set<Element>();
        new MutationObserver((changes) => {
          for (const c of changes) {
            const tr = (c.target instanceof Element ? c.target : c.target.parentElement)?.closest('tbody tr');
            if (tr) touched.add(tr);
          }
        }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        (globalThis as unknown as { touched: Set<Element> }).touched = touched;
      });
      monitor.advance();
      await page.locator('#cache tr.hit').waitFor();
      const rows = await page.evaluate(() => [...(globalThis as unknown as { touched: Set<Element> }).touched].map((tr) => tr.textContent));
      expect(rows).toEqual([expect.stringContaining('H103_W203')]);
      expect(rows[0]).toContain('H103_W203');
    });
  });
});
