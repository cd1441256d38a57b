import { expect, test } from 'vitest';
import { expanded, programs, pythons } from '../../src/msvm/model/places.ts';
import { Mend, sentence } from '../../src/msvm/model/mend.ts';

const around = { setting: '', folders: ['/ws'], path: '/usr/bin:/opt/bin', windows: false };

test('msvm is looked for in a clone, beside the interpreter, then on the path', () => {
  expect(programs({ ...around, python: '/env/bin/python' })).toEqual(['/ws/build/release/msvm', '/env/bin/msvm', '/usr/bin/msvm', '/opt/bin/msvm']);
  expect(programs({ ...around, python: undefined })).toEqual(['/ws/build/release/msvm', '/usr/bin/msvm', '/opt/bin/msvm']);
});

test('a setting is the only place', () => {
  expect(programs({ ...around, setting: '/x/msvm', python: '/env/bin/python' })).toEqual(['/x/msvm']);
  expect(programs({ ...around, setting: 'msvm-dev', python: undefined })).toEqual(['/usr/bin/msvm-dev', '/opt/bin/msvm-dev']);
});

test('Python is that of an environment in the workspace before that of the path', () => {
  expect(pythons(around).slice(0, 4)).toEqual(['/ws/.venv/bin/python', '/ws/venv/bin/python', '/ws/build/venv/bin/python', '/usr/bin/python3']);
  expect(pythons({ ...around, windows: true, path: 'C:/py' })).toContain('C:/py/python.exe');
});

test('paths of settings', () => {
  expect(expanded('${workspaceFolder}/bin/msvm', ['/ws'], '/home/me')).toBe('/ws/bin/msvm');
  expect(expanded('~/msvm', ['/ws'], '/home/me')).toBe('/home/me/msvm');
  expect(expanded('build/msvm', ['/ws'], '/home/me')).toBe('/ws/build/msvm');
  expect(expanded('msvm', ['/ws'], '/home/me')).toBe('msvm');
});

test('a mend is part of the sentence', () => {
  expect(sentence(new Mend('It is broken', 'Mend it'))).toBe('It is broken. Mend it');
  expect(sentence(new Mend('It is broken', ''))).toBe('It is broken');
  expect(sentence('plain')).toBe('plain');
});
