// What holds for every program: MSVM_MONITOR_URL=http://127.0.0.1:9464/ asks one that runs, else a scripted one is asked.
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axe } from '../axe.ts';
import { launch, open } from '../browser.ts';
import { readCsv } from '../csv_reader.ts';
import { TestMonitor } from '../server.ts';

const real = process.env.MSVM_MONITOR_URL ?? '';

describe('the page of a program', () => {
  let browser: Browser;
  let monitor: TestMonitor | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  let url = real;
  beforeAll(async () => {
    browser = await launch();
    if (real !== '') return;
    const scripted = await TestMonitor.start();
    monitor = scripted;
    url = scripted.url;
    timer = setInterval(() => scripted.advance(), 1000);
  });
  afterAll(async () => {
    clearInterval(timer);
    await browser.close();
    await monitor?.stop();
  });

  const visit = async (options: BrowserContextOptions, look: (page: Page) => Promise<void>) => {
    const { page, complaints } = await open(browser, url, options);
    try {
      await look(page);
      expect(complaints).toEqual([]);
    } finally {
      await page.context().close();
    }
  };

  it('says which program it is, and is live', () =>
    visit({}, async (page) => {
      await page.locator('.status-live').waitFor();
      expect(await page.locator('.process').innerText()).toMatch(/pid \d+ · \S+ · \d+ threads · up/);
      expect(await page.locator('.rate b').innerText()).toMatch(/^(\d+(\.\d)? %|–)$/);
      for (const id of ['hit-rate', 'latency-chart', 'memory-chart', 'warnings', 'alerts', 'active', 'queue', 'memory', 'cache', 'shapes', 'latency', 'slow_path', 'events']) {
        expect(await page.locator(`#${id} h2`).count(), id).toBe(1);
      }
    }));

  it('follows the program', () =>
    visit({}, async (page) => {
      const first = await page.locator('.process').innerText();
      await page.waitForFunction((old) => document.querySelector<HTMLElement>('.process')?.innerText !== old, first, { timeout: 10_000 });
    }));

  const looks: readonly (readonly [string, BrowserContextOptions])[] = [
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { viewport: { width: 390, height: 844 } }],
    ['narrow, dark, Chinese', { viewport: { width: 390, height: 844 }, colorScheme: 'dark', locale: 'zh-CN' }],
  ];
  it.each(looks)('has nothing that axe-core finds wrong: %s', async (_name, options) => {
    await visit(options, async (page) => {
      await page.locator('.controls button').first().click(); // pause: it looks at one state
      expect(await axe(page)).toEqual([]);
      const first = page.locator('#cache .row-name').first();
      if ((await first.count()) === 0) return;
      await first.click();
      await page.locator('.drawer .listings, .drawer .empty, .drawer .banner').first().waitFor();
      expect(await axe(page)).toEqual([]);
    });
  });

  it('fits windows of any width', () =>
    visit({}, async (page) => {
      for (const width of [320, 390, 768, 1024, 1280, 1920]) {
        await page.setViewportSize({ width, height: 844 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      }
    }));

  it('saves every table as CSV', () =>
    visit({}, async (page) => {
      const buttons = page.locator('.csv:visible');
      const names = new Set<string>();
      for (let k = 0; k < (await buttons.count()); ++k) {
        await page.waitForTimeout(100); // browsers hold back what is saved at once
        const [download] = await Promise.all([page.waitForEvent('download'), buttons.nth(k).click()]);
        expect(download.suggestedFilename()).toMatch(/^msvm-\w+-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.csv$/);
        names.add(download.suggestedFilename().split('-')[1] ?? '');
        const text = readFileSync(await download.path(), 'utf8');
        expect(text.startsWith('\ufeff')).toBe(false);
        const [head, ...rows] = readCsv(text);
        expect(head?.every((c) => /^[a-z][a-z0-9_]*$/.test(c))).toBe(true);
        for (const row of rows) expect(row).toHaveLength(head?.length ?? 0);
        const time = head?.indexOf('time') ?? -1;
        if (time >= 0) for (const row of rows) expect(row[time]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
      expect([...names].sort()).toEqual(['active', 'alerts', 'cache', 'events', 'history', 'latency', 'memory', 'queue', 'shapes', 'slow_path', 'warnings']);
    }));

  it('stands still while paused', () =>
    visit({}, async (page) => {
      await page.getByRole('button', { name: 'Pause' }).click();
      const still = await page.locator('.process').innerText();
      await page.getByText(/Paused at .*; [1-9]\d* updates since/).waitFor({ timeout: 10_000 });
      expect(await page.locator('.process').innerText()).toBe(still);
      await page.getByRole('banner').getByRole('button', { name: 'Resume' }).click();
      await page.waitForFunction((old) => document.querySelector<HTMLElement>('.process')?.innerText !== old, still);
    }));

  it('remembers language and theme', () =>
    visit({}, async (page) => {
      await page.getByRole('button', { name: /^中文/ }).click();
      await page.getByRole('button', { name: '主题：跟随系统' }).click();
      await page.getByRole('button', { name: '主题：浅色' }).click();
      await page.reload();
      await page.locator('h1', { hasText: 'JIT 监视器' }).waitFor();
      expect(await page.evaluate(() => [document.documentElement.lang, getComputedStyle(document.documentElement).colorScheme])).toEqual(['zh-CN', 'dark']);
    }));

  it('opens an entry’s code by keyboard, and gives the focus back', () =>
    visit({}, async (page) => {
      const first = page.locator('#cache .row-name').first();
      if ((await first.count()) === 0) return;
      await page.getByRole('button', { name: 'Pause' }).click(); // rows may change places
      await first.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await first.evaluate((e) => e === document.activeElement)).toBe(true);
    }));

  it('moves nothing for readers who want no motion', () =>
    visit({ reducedMotion: 'reduce' }, async (page) => {
      const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((e) => getComputedStyle(e).transitionDuration !== '0s' || getComputedStyle(e).animationName !== 'none').length);
      expect(moving).toBe(0);
    }));
});
