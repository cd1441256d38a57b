import { expect, test } from 'vitest';
import { readBuffers, readCall, readRegisters } from '../../src/debug/model/wire.ts';
import { bufferField, callLabel, candidateField, pages, registerRow } from '../../src/registers/model/rows.ts';
import { bytes, duration } from '../../src/registers/model/units.ts';

const tensor = {
  reg: 'R3',
  name: 'x',
  kind: 'TensorMeta',
  text: '[dynamic=16, 3, h=512, w=512]',
  declared: 'f32[N, 3, H, W]',
  shape: [
    { axis: '', symbol: 'N', value: 16 },
    { axis: 'channel', symbol: '3', value: 3 },
    { axis: 'h', symbol: 'H', value: 512 },
    { axis: 'w', symbol: 'W', value: 512 },
  ],
  dtype: 'f32',
  device: 'CPU(0)',
  layout: 'NCHW',
  strides: [786432, 262144, 512, 1],
  memory_addr: '0x7f0000000040',
  is_jit_compiled: true,
  bytes: 50331648,
  owner: 'arena',
  reused_from: 'R1',
  state: 'live',
  changed: true,
  value: '',
};
const register = (over: object) => readRegisters({ registers: [{ ...tensor, ...over }] }).registers[0] ?? expect.fail('none');

test('a tensor says what it is on one line, and everything below it', () => {
  const row = registerRow(register({}));
  expect([row.label, row.value]).toEqual(['R3: TensorMeta', '[dynamic=16, 3, h=512, w=512] f32 "x"']);
  expect(row).toMatchObject({ kind: 'tensor', changed: true, readable: true });
  expect(row.fields.map(({ label, value }) => `${label}: ${value}`)).toEqual([
    'shape: [dynamic=16, 3, h=512, w=512]',
    'declared: f32[N, 3, H, W]',
    'dtype: f32',
    'device: CPU(0)',
    'layout: NCHW',
    'strides: [786432, 262144, 512, 1]',
    'memory_addr: 0x7f0000000040',
    'is_jit_compiled: true',
    'bytes: 48.0 MiB',
    'owner: arena',
    'reused from: R1',
    'state: live',
  ]);
  expect(row.fields[0]?.fields?.map(({ label, value, hint }) => `${label}=${value} ${hint}`)).toEqual(['N=16 declared N', 'channel=3 constant', 'h=512 declared H', 'w=512 declared W']);
});

test.each([
  [{ state: 'freed', memory_addr: null }, '[dynamic=16, 3, h=512, w=512] f32 "x" (freed)'],
  [{ state: 'taken by R9' }, '[dynamic=16, 3, h=512, w=512] f32 "x" (taken by R9)'],
  [{ state: 'unwritten', name: '' }, '[dynamic=16, 3, h=512, w=512] f32 (unwritten)'],
])('what has no values says why, and can not be looked at: %j', (over, value) => expect(registerRow(register(over))).toMatchObject({ value, readable: false }));

test('scalars and registers that nothing has reached', () => {
  expect(registerRow(register({ kind: 'i64', value: '64', text: '64', name: 'height', shape: [] }))).toMatchObject({ label: 'R3: i64', value: '64 "height"', kind: 'scalar', readable: false, fields: [] });
  expect(registerRow(register({ state: 'unset', name: '' }))).toMatchObject({ label: 'R3: f32[N, 3, H, W]', value: 'unset', kind: 'unset', fields: [] });
});

test('an operand that is not there', () => {
  expect(registerRow(register({ reg: '', name: '', kind: '', state: 'absent', declared: '' }), 'B')).toMatchObject({ label: 'B', value: 'absent', kind: 'unset', fields: [] });
});

test('pages after the first sixteen', () => {
  expect(pages(16)).toEqual([]);
  expect(pages(40)).toEqual([
    [16, 16],
    [32, 8],
  ]);
});

test('a call, its kernels, the buffers', () => {
  const call = readCall({ op: 'Conv', attributes: '{}', inputs: [{ ...tensor, operand: 'X' }, { operand: 'W', reg: 'R1' }], outputs: [{ reg: 'R2' }], candidates: [] }) ?? expect.fail('none');
  expect(callLabel(call)).toBe('OP_CALL Conv(R3, R1) → R2');
  expect(call.inputs.map(({ operand }) => operand)).toEqual(['X', 'W']);
  expect(readCall(null)).toBeNull();
  expect(candidateField({ kernel: 'gemm', chosen: true, cost_ns: 41200, reason: '' })).toMatchObject({ label: 'gemm', value: '≈ 41.2 µs · runs' });
  expect(candidateField({ kernel: 'winograd', chosen: false, cost_ns: null, reason: 'needs 3x3' })).toMatchObject({ value: 'needs 3x3' });
  expect(bufferField(readBuffers([{ address: '0x40', bytes: 1536, owner: 'arena', registers: ['R2', 'R4'], reused_from: 'R5' }])[0] ?? expect.fail('none'))).toMatchObject({ label: 'R2, R4', value: '1.50 KiB · arena · reused from R5' });
});

test('units', () => {
  expect([0, 1023, 1024, 1.5 * 1024 ** 3].map(bytes)).toEqual(['0 B', '1023 B', '1.00 KiB', '1.50 GiB']);
  expect([999, 1000, 2.5e9].map(duration)).toEqual(['999 ns', '1.00 µs', '2.50 s']);
});
