// What the view MS Registers shows, as rows: no editor in it.
import type { Buffer, Call, Register } from '../../debug/model/wire.ts';
import { bytes, duration } from './units.ts';

export const PAGE = 16;

export interface Field {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly fields?: readonly Field[];
}

export interface RegisterRow {
  /** "R3" */
  readonly register: string;
  /** "R3: TensorMeta" */
  readonly label: string;
  /** What follows it in a weaker colour. */
  readonly value: string;
  readonly kind: 'tensor' | 'scalar' | 'list' | 'unset';
  readonly changed: boolean;
  /** Its values can be looked at. */
  readonly readable: boolean;
  readonly fields: readonly Field[];
  readonly tooltip: string;
}

const GONE = /^(unset|unwritten|freed|taken|fused)/;

const kindOf = ({ kind, state }: Register): RegisterRow['kind'] => {
  if (kind === 'unset' || kind === '' || state === 'unset' || state === 'absent') return 'unset';
  if (kind === 'TensorMeta') return 'tensor';
  return kind === 'list' ? 'list' : 'scalar';
};

/** "dynamic=16": what a dimension is and was declared as. */
const dimension = ({ axis, symbol, value }: Register['shape'][number]): Field => ({
  label: axis === '' ? symbol || 'constant' : axis,
  value: String(value),
  hint: symbol === '' || symbol === String(value) ? 'constant' : `declared ${symbol}`,
});

function tensorFields(r: Register): readonly Field[] {
  const fields: Field[] = [
    { label: 'shape', value: r.text, hint: `declared ${r.declared}`, fields: r.shape.map(dimension) },
    { label: 'declared', value: r.declared },
    { label: 'dtype', value: r.dtype },
    { label: 'device', value: r.device },
    { label: 'layout', value: r.layout },
    { label: 'strides', value: `[${r.strides.join(', ')}]`, hint: 'in elements' },
    { label: 'memory_addr', value: r.memory_addr },
    { label: 'is_jit_compiled', value: String(r.is_jit_compiled), hint: 'whether native code gave it its value' },
    { label: 'bytes', value: bytes(r.bytes), hint: `${r.bytes} bytes` },
    { label: 'owner', value: r.owner },
    { label: 'reused from', value: r.reused_from, hint: 'whose memory it has taken over' },
    { label: 'state', value: r.state },
  ];
  return fields.filter(({ value }) => value !== '' && value !== '[]' && value !== '0x0');
}

export function registerRow(r: Register, name = r.reg): RegisterRow {
  const kind = kindOf(r);
  const called = r.name === '' ? '' : ` "${r.name}"`;
  const gone = GONE.test(r.state) ? r.state : '';
  const shown = kind === 'tensor' ? `${r.text} ${r.dtype}` : r.value || r.text;
  const type = kind === 'unset' ? r.declared || 'unset' : r.kind;
  return {
    register: r.reg,
    label: r.state === 'absent' ? name : `${name}: ${type}`,
    value: kind === 'unset' ? `${r.state || 'unset'}${called}` : `${shown}${called}${gone === '' ? '' : ` (${gone})`}`,
    kind,
    changed: r.changed,
    readable: kind === 'tensor' && gone === '',
    fields: kind === 'tensor' ? tensorFields(r) : [],
    tooltip: [`${name}${called} ${r.declared}`, kind === 'unset' ? r.state : shown, r.changed ? 'changed by the last step' : ''].filter((part) => part.trim() !== '').join('\n'),
  };
}

/** Pages after the first: [first register, count] of each. */
export function pages(total: number): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (let first = PAGE; first < total; first += PAGE) found.push([first, Math.min(PAGE, total - first)]);
  return found;
}

/** "OP_CALL Conv(R0, R1) → R2" */
export function callLabel(call: Call): string {
  const names = (operands: Call['inputs']) => operands.map(({ value, operand }) => value.reg || operand).join(', ');
  return `OP_CALL ${call.op}(${names(call.inputs)})${call.outputs.length === 0 ? '' : ` → ${names(call.outputs)}`}`;
}

export const candidateField = ({ kernel, chosen, cost_ns, reason }: Call['candidates'][number]): Field & { chosen: boolean } => ({
  label: kernel,
  value: [cost_ns === null ? '' : `≈ ${duration(cost_ns)}`, chosen ? 'runs' : reason].filter((part) => part !== '').join(' · '),
  hint: chosen ? 'The cheapest kernel that takes these operands' : reason,
  chosen,
});

export const bufferField = (b: Buffer): Field => ({
  label: b.registers.join(', ') || b.address,
  value: [bytes(b.bytes), b.owner, b.reused_from === '' ? '' : `reused from ${b.reused_from}`].filter((part) => part !== '').join(' · '),
  hint: `${b.bytes} bytes at ${b.address}`,
});
