import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { policy } from '../../single_file.ts';

it('lets exactly this script and this style run', () => {
  const hash = (text: string) => createHash('sha256').update(text).digest('base64');
  const value = policy('let a = "é";', 'b{}');
  expect(value).toContain(`script-src 'sha256-${hash('let a = "é";')}';`);
  expect(value).toContain(`style-src 'sha256-${hash('b{}')}';`);
  expect(value).toMatch(/^default-src 'none';/);
  expect(value).not.toContain('unsafe');
  expect(value).not.toContain('\n');
});
