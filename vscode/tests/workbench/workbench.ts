// What a user does in the workbench, and what it shows, by the locators that hold from one version to the next.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Locator, Page } from 'playwright-core';
import { ROOT, start, type CodeServer, type Options } from '../code_server.ts';

export const VSIX = join(ROOT, 'dist/msvm.vsix');
const PICTURES = process.env.MSVM_SCREENSHOTS;
/** In which colours the workbench is drawn. */
export const THEME = process.env.MSVM_THEME ?? 'Default Dark Modern';

/** Blanks that editors draw as no-break spaces. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ');
const literal = (text: string) => text.replaceAll(/[^\w ]/g, '.');

export class Workbench {
  readonly page: Page;
  readonly folder: string;
  readonly #server: CodeServer;

  private constructor(server: CodeServer) {
    this.#server = server;
    this.page = server.page;
    this.folder = server.folder;
  }

  static async open(options: Omit<Options, 'vsix' | 'workspace'> & { readonly workspace?: string } = {}): Promise<Workbench> {
    const server = await start({ vsix: VSIX, workspace: join(ROOT, 'tests/workspace'), ...options });
    try {
      const workbench = new Workbench(server);
      await server.page.goto(`${server.url}?folder=${server.folder}`);
      await server.page.locator('.monaco-workbench .part.statusbar').waitFor();
      return workbench;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  stop = (): Promise<void> => this.#server.stop();
  log = (): string => this.#server.log();

  /** A picture where MSVM_SCREENSHOTS names a folder. */
  async picture(name: string): Promise<void> {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }

  /** Looks, and keeps a picture of what was seen or of what was seen instead. */
  async seen(name: string, look: () => Promise<void>): Promise<void> {
    try {
      await look();
      await this.picture(name);
    } catch (error) {
      await this.picture(`${name}-failed`);
      throw error;
    }
  }

  /** What is offered is what is there when the list opens: so it is opened again until the row is. */
  async #quick(key: string, text: string, row: string | RegExp): Promise<void> {
    const input = this.page.locator('.quick-input-widget input').first();
    const wanted = this.page.locator('.quick-input-list .monaco-list-row', { hasText: row }).first();
    for (let tries = 1; ; tries++) {
      await this.page.keyboard.press(key);
      await input.waitFor();
      await input.fill(text);
      const found = await wanted.waitFor({ timeout: tries < 6 ? 10_000 : 30_000 }).then(
        () => true,
        (error: unknown) => {
          if (tries < 6) return false;
          throw error;
        },
      );
      if (found) break;
      await this.page.keyboard.press('Escape');
      await input.waitFor({ state: 'hidden' });
    }
    await this.page.keyboard.press('Enter');
    await this.#taken(text);
  }

  /** What was typed into the box is taken: it is gone, or has the next question already, without having been away. */
  async #taken(text: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input').first();
    const end = Date.now() + 120_000;
    while ((await input.isVisible()) && (await input.inputValue()) === text) {
      if (Date.now() > end) throw new Error(`"${text}" stands in the box still`);
      await this.page.waitForTimeout(20);
    }
  }

  /** By its title in the palette: "MSVM: View Values". */
  command = (title: string): Promise<void> => this.#quick('F1', `>${title}`, title);
  openFile = (name: string): Promise<void> => this.#quick('Control+P', name, name);

  /** The extension is active: a command of its own answers that it has nothing to work on. */
  async ready(): Promise<void> {
    await this.command('MSVM: Disassemble JIT Entry');
    await this.notification('No MSVM session is running').waitFor();
    await this.command('Notifications: Clear All Notifications');
  }

  /** Starts a configuration of the launch file. */
  debug = (name: string): Promise<void> => this.#quick('Control+P', `debug ${name}`, name);

  /** Starts a session by a launch file of its own. F5 means that file from then on. */
  async debugBy(configuration: Readonly<Record<string, unknown>> & { readonly name: string }): Promise<void> {
    mkdirSync(join(this.folder, '.vscode'), { recursive: true });
    writeFileSync(join(this.folder, '.vscode/launch.json'), JSON.stringify({ version: '0.2.0', configurations: [{ type: 'msvm', request: 'launch', ...configuration }] }));
    await this.debug(configuration.name);
  }

  /** As the workbench was when it opened, whatever a test has left: nothing is asked, debugged or open, and there are no breakpoints. */
  async clear(): Promise<void> {
    const asked = this.page.locator('.quick-input-widget:visible, .monaco-dialog-box:visible');
    for (let tries = 0; tries < 10 && (await asked.count()) > 0; tries++) {
      await this.page.keyboard.press('Escape');
      await asked.first().waitFor({ state: 'hidden', timeout: 3000 }).catch(() => undefined);
    }
    await this.endSession();
    await this.command('Remove All Breakpoints');
    await this.command('View: Close All Editors');
    await this.command('Notifications: Clear All Notifications');
  }

  /** Ends the session if there is one: again where the first wish to end it was lost. */
  async endSession(): Promise<void> {
    for (let tries = 1; await this.mode().isVisible(); tries++) {
      await this.page.keyboard.press('Shift+F5');
      await this.mode().waitFor({ state: 'hidden', timeout: tries < 4 ? 15_000 : 60_000 }).catch((error: unknown) => {
        if (tries === 4) throw error;
      });
    }
  }

  /** A file of the folder, in front and drawn. */
  async front(name: string): Promise<void> {
    await this.openFile(name);
    await this.page.locator('.tab.active', { hasText: name }).waitFor();
  }

  /** Text of our item in the status bar. */
  mode(): Locator {
    return this.page.locator('#msvm\\.msvm\\.msvm\\.mode');
  }

  /** The line of the top stack frame in the editor, when it is drawn. */
  async highlighted(): Promise<string> {
    const line = this.page.locator('.monaco-editor .debug-top-stack-frame-line').first();
    await line.waitFor();
    return this.page.evaluate(() => {
      const mark = document.querySelector('.monaco-editor .debug-top-stack-frame-line');
      const top = mark?.getBoundingClientRect().top ?? -1;
      const lines = [...(mark?.closest('.monaco-editor')?.querySelectorAll<HTMLElement>('.view-line') ?? [])];
      return lines.find((each) => Math.abs(each.getBoundingClientRect().top - top) < 3)?.innerText ?? '';
    }).then(plain);
  }

  /** Waits until the highlighted line is as wanted. */
  async untilHighlighted(wanted: RegExp, limit = 120_000): Promise<string> {
    const end = Date.now() + limit;
    for (;;) {
      const last = await this.highlighted();
      if (wanted.test(last)) return last;
      if (Date.now() > end) throw new Error(`the highlighted line is "${last}", expected ${wanted.source}`);
      await this.page.waitForTimeout(50);
    }
  }

  /** Steps over instructions until one is as wanted. */
  async stepUntil(wanted: RegExp, most = 60): Promise<void> {
    for (let steps = 0; steps < most; steps++) {
      const line = await this.highlighted();
      if (wanted.test(line)) return;
      await this.page.keyboard.press('F10');
      await this.untilHighlighted(new RegExp(`^(?!${literal(line)})`));
    }
    throw new Error(`no line like ${wanted.source} came within ${most} steps`);
  }

  /** A line of the editors in sight; editors draw blanks as no-break spaces. */
  line = (text: RegExp): Locator => this.page.locator('.view-line', { hasText: new RegExp(text.source.replaceAll(' ', '\\s')) }).first();
  lens = (text: string): Locator => this.page.locator('.codelens-decoration', { hasText: text }).first();
  debugConsole = (text: string): Locator => this.page.locator('.repl .monaco-list-row', { hasText: text }).first();

  /** Folds a pane of the side bar. */
  async collapse(title: string): Promise<void> {
    const header = this.page.locator(`.pane-header[aria-label^="${title}"]`).first();
    if ((await header.getAttribute('aria-expanded')) === 'true') await header.click();
  }

  /** Types into the debug console. */
  async ask(expression: string): Promise<void> {
    await this.command('Debug Console: Focus on Debug Console View');
    await this.page.locator('.repl-input-wrapper .monaco-editor.focused').waitFor();
    await this.page.keyboard.type(expression);
    await this.page.keyboard.press('Escape'); // the completion, if it is there
    await this.page.keyboard.press('Enter');
  }

  async closeTab(name: string): Promise<void> {
    const tab = this.page.locator('.tabs-container .tab', { hasText: name }).first();
    await tab.locator('.codicon-close').click();
    await tab.waitFor({ state: 'detached' });
  }

  async toggleBreakpoint(line: number): Promise<void> {
    await this.#quick('Control+G', `:${line}`, /./);
    await this.page.keyboard.press('F9');
    await this.page.locator('.codicon-debug-breakpoint, .codicon-debug-breakpoint-unverified').first().waitFor();
  }

  /** Answers a question of the extension. */
  async answer(question: string, text: string): Promise<void> {
    await this.page.locator('.quick-input-widget .quick-input-title', { hasText: question }).waitFor();
    const input = this.page.locator('.quick-input-widget input').first();
    await input.fill(text);
    await this.page.keyboard.press('Enter');
    await this.#taken(text);
  }

  registers(): Locator {
    return this.page.locator('.pane:has(.pane-header[aria-label^="MS Registers"]) .monaco-list-row');
  }

  /** A row of MS Registers: its label, and what follows that in a weaker colour. */
  register(label: string, value?: string | RegExp): Locator {
    const named = this.registers().filter({ has: this.page.locator('.label-name', { hasText: label }) });
    return (value === undefined ? named : named.filter({ has: this.page.locator('.label-description', { hasText: value }) })).first();
  }

  /** Such a row while it is marked as changed by the last step. */
  changed = (label: string): Locator => this.register(label).locator('.monaco-icon-label[aria-label*="changed by the last step"]');

  /** Again where a refresh of the view has come between. */
  async unfold(label: string): Promise<void> {
    const open = this.registers().and(this.page.locator('[aria-expanded="true"]')).filter({ hasText: label });
    for (let tries = 0; tries < 20 && (await open.count()) === 0; tries++) {
      await this.register(label).click();
      await open.first().waitFor({ timeout: 3000 }).catch(() => undefined);
    }
  }

  /** What the values panel of a register says of its elements. */
  async values(register: string): Promise<readonly number[]> {
    const row = this.register(`${register}: TensorMeta`);
    const tab = this.page.locator('.tab', { hasText: `${register}: values` });
    for (let tries = 0; tries < 6 && (await tab.count()) === 0; tries++) {
      await row.hover(); // a view that is drawn anew meanwhile takes the button from under the pointer
      await row.locator('.action-label[aria-label="View Values"]').click();
      await tab.waitFor({ timeout: 10_000 }).catch(() => undefined);
    }
    const page = await this.webview(`h1 code:text-is("${register}")`);
    await page.locator('td').first().waitFor();
    const texts = await page.locator('td').allInnerTexts();
    await this.closeTab(`${register}: values`);
    return texts.map(Number);
  }

  stack(): Locator {
    return this.page.locator('.debug-call-stack .monaco-list-row');
  }

  /** What the editor shows over the line of a failure. Where the call stack was read twice it shows that only when the frame is chosen anew. */
  async exception(): Promise<Locator> {
    const widget = this.page.locator('.exception-widget');
    for (let tries = 1; ; tries++) {
      const shown = await widget.waitFor({ timeout: tries < 6 ? 10_000 : 60_000 }).then(
        () => true,
        (error: unknown) => {
          if (tries < 6) return false;
          throw error;
        },
      );
      if (shown) return widget;
      await this.stack().first().click();
    }
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator('.notification-list-item-message', { hasText: text });
  }

  /** The frame of a webview that has an element of ours. */
  async webview(selector: string, limit = 120_000): Promise<Frame> {
    const end = Date.now() + limit;
    for (;;) {
      for (const frame of this.page.frames()) {
        if ((await frame.locator(selector).count().catch(() => 0)) > 0) return frame;
      }
      if (Date.now() > end) throw new Error(`no webview has ${selector}`);
      await this.page.waitForTimeout(50);
    }
  }
}
