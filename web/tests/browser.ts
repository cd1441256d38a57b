// Headless Chromium, and pages in it that fail a test when they complain.
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const CHOICES = [process.env.MSVM_CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function launch(): Promise<Browser> {
  const executablePath = CHOICES.find((path) => path !== undefined && path !== '' && existsSync(path));
  if (executablePath === undefined) throw new Error('no Chromium found; expected /usr/bin/chromium-headless-shell: apt-get install chromium-headless-shell, or set MSVM_CHROMIUM to one');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });
}

export interface Opened {
  readonly page: Page;
  /** What the page said that it should not: errors, refused scripts and styles. */
  readonly complaints: string[];
}

export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(url);
  await page.locator('.figures').waitFor();
  return { page, complaints };
}
