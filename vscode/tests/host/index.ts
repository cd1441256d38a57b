// What the extension host runs: every suite of this folder, by mocha.
import Mocha from 'mocha';
import { BEGIN } from './begin.ts';
import { languageSuite } from './language.ts';
import { monitorSuite } from './monitors.ts';
import { moduleSuite } from './real.ts';
import { lensSuite, scriptedSuite } from './scripted.ts';
import { validationSuite } from './validation.ts';

const suites = [lensSuite, scriptedSuite, moduleSuite, languageSuite, validationSuite, monitorSuite];

export function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', timeout: 120_000, color: false, ...(process.env.MSVM_GREP === undefined ? {} : { grep: process.env.MSVM_GREP }) });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  for (const each of suites) each();
  console.log(BEGIN); // eslint-disable-line no-console -- the editor hands it to whoever runs the tests
  return new Promise((resolve, reject) => {
    let passed = 0;
    const runner = mocha.run((failures) => {
      console.log(`${passed} passed, ${failures} failed`); // eslint-disable-line no-console -- as above
      if (failures > 0) reject(new Error(`${failures} failed`));
      else resolve();
    });
    runner.on('pass', () => passed++);
  });
}
