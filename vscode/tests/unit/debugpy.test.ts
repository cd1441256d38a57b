import { expect, test } from 'vitest';
import { installing, reason } from '../../src/debug/model/debugpy.ts';

test('the command is one that can be typed', () => {
  expect(installing('/opt/venv/bin/python3.11').text).toBe('/opt/venv/bin/python3.11 -m pip install debugpy');
  expect(installing("/home/o'neil/my venv/bin/python").text).toBe(`'/home/o'\\''neil/my venv/bin/python' -m pip install debugpy`);
  expect(installing('/a b/python')).toMatchObject({ program: '/a b/python', args: ['-m', 'pip', 'install', 'debugpy'] });
});

test('the reason is what pip calls an error', () => {
  expect(reason('error: externally-managed-environment\n\n× This environment is externally managed\n╰─> To install …\n')).toBe('externally-managed-environment');
  expect(reason('Collecting debugpy\nERROR: Could not find a version that satisfies the requirement debugpy\nERROR: No matching distribution found for debugpy\n')).toBe('Could not find a version that satisfies the requirement debugpy');
  expect(reason('/usr/bin/python: No module named pip\n\n')).toBe('/usr/bin/python: No module named pip');
  expect(reason('\n')).toBe('pip said nothing');
});
