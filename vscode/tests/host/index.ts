// What the extension host runs: every suite of this folder, by mocha.
import Mocha from 'mocha';
import { activation } from './activation.ts';

const suites = [activation];

export function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', timeout: 60_000, color: false });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  for (const each of suites) each();
  return new Promise((resolve, reject) => {
    let passed = 0;
    const runner = mocha.run((failures) => {
      process.stdout.write(`${passed} passed, ${failures} failed\n`);
      if (failures > 0) reject(new Error(`${failures} failed`));
      else resolve();
    });
    runner.on('pass', () => passed++);
  });
}
