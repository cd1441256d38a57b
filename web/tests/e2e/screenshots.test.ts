// Pictures to look at: MSVM_SCREENSHOTS=folder npm run e2e -- screenshots
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, open } from '../browser.ts';
import { FALLBACK_AT } from '../scenario/camera.ts';
import { TestMonitor } from '../server.ts';

const folder = process.env.MSVM_SCREENSHOTS ?? '';

describe.skipIf(folder === '')('pictures', () => {
  let browser: Browser;
  let monitor: TestMonitor;
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    browser = await launch();
    monitor = await TestMonitor.start();
  });
  afterAll(async () => {
    await browser.close();
    await monitor.stop();
  });

  const pictures: readonly (readonly [name: string, options: BrowserContextOptions, disassembly?: boolean])[] = [
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }],
    ['chinese', { locale: 'zh-CN' }],
    ['disassembly', {}, true],
    ['disassembly-dark', { colorScheme: 'dark' }, true],
    ['disassembly-narrow', { viewport: { width: 390, height: 844 } }, true],
  ];
  for (const [name, options, disassembly] of pictures) {
    it(name, async () => {
      monitor.step = 0;
      const { page, complaints } = await open(browser, monitor.url, options);
      for (let k = 0; k < FALLBACK_AT + 2; ++k) {
        monitor.advance();
        await page.waitForTimeout(30);
      }
      await page.waitForTimeout(300);
      if (disassembly) {
        await page.locator('#cache .row-name').first().click();
        await page.locator('.asm .line').nth(13).hover();
        await page.waitForTimeout(100);
      }
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: disassembly !== true });
      expect(complaints).toEqual([]);
      await page.context().close();
    });
  }
});
