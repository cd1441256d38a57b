import { describe, expect, it } from 'vitest';
import { character } from '../../src/msasm/model/columns.ts';
import { complete } from '../../src/msasm/model/complete.ts';
import { attributeAt, instructionDoc, nameDoc, operatorDoc } from '../../src/msasm/model/docs.ts';
import { readListing, type NameKind } from '../../src/msasm/model/listing.ts';
import { instruction, operator, tables } from '../../src/msasm/model/tables.ts';
import { tokens } from '../../src/msasm/model/tokens.ts';

const NECK = `module "neck" version 1
opset "" 23, "msvm" 1
symbol N in [1, 64], H multiple_of 32, W multiple_of 32
const %scale f32[2] = [1, 0.5]

func @forward(x: f32[N, 128, H, W]) -> (y: f32[N, 64, 2*H, 2*W])
b0:
  R0 "x" = TENSOR_CREATE input 0, [(batch, N), (channel, 128), (height, H), (width, W)]
  R1 = SHAPE_PROPAGATE R0, 2                                                    ; model.py:12 R9
  R2 = SHAPE_CALC mul R1, 2
  R3: f32[N, 64, H, W] strided = TENSOR_VIEW slice R0, axis 1 from 0 to 64
  R4 = TENSOR_ALLOC [(batch, N), (channel, 64), ; R8 in a comment
    (height, R2), (width, 2*W)], f32, CPU(0)
  OP_CALL Resize(R3; R2, 2*W) -> R4 {axes: [2, 3], mode: "nearest; R7"}
  TENSOR_FREE R3
  RETURN R4

func @other(x: f32[M]) -> (i64)
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SHAPE_PROPAGATE R0, 0
  OP_CALL NonZero(R0) -> new R2 "hits": i64[1, K]
  TENSOR_FREE R2
  JUMP b1
b1:
  RETURN (; R1)
`;
const listing = readListing(NECK);
const lines = NECK.split('\n');
const find = (kind: NameKind, name: string, scope?: number) => {
  const found = listing.names.find((n) => n.kind === kind && n.name === name && n.scope === scope);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
};
const linesOf = (kind: NameKind, name: string, scope?: number) => find(kind, name, scope).places.map((p) => p.line + 1);

describe('tokens', () => {
  it('tell a comment from the semicolon before sizes', () => {
    const comments = [...tokens(lines)].filter((t) => t.kind === 'comment').map((t) => t.text);
    expect(comments).toEqual(['; model.py:12 R9', '; R8 in a comment']);
  });
  it('end whatever the text', () => {
    for (const text of ['"', '%', '@', '((((', '\u{1f600} R0', 'R0 = "\\', ';;;']) expect([...tokens([text])].length).toBeGreaterThan(0);
  });
});

describe('a listing', () => {
  it('has functions with their blocks', () => {
    expect(listing.functions.map((f) => [f.name, f.line + 1, f.end + 1, f.blocks.map((b) => `${b.name}:${b.line + 1}-${b.end + 1}`)])).toEqual([
      ['@forward', 6, 17, ['b0:7-17']],
      ['@other', 18, 27, ['b0:19-24', 'b1:25-27']],
    ]);
  });
  it('keeps the registers of functions apart', () => {
    expect(linesOf('register', 'R0', 0)).toEqual([8, 9, 11]);
    expect(linesOf('register', 'R0', 1)).toEqual([20, 21, 22]);
    expect(find('register', 'R4', 0).definition).toMatchObject({ line: 11, start: 2, end: 4 });
    expect(linesOf('register', 'R4', 0)).toEqual([12, 14, 16]);
    expect(linesOf('register', 'R2', 0)).toEqual([10, 13, 14]);
  });
  it('finds registers in no string and no comment', () => {
    for (const name of ['R7', 'R8', 'R9']) expect(listing.names.some((n) => n.name === name)).toBe(false);
  });
  it('takes a new output as a definition', () => {
    expect(find('register', 'R2', 1).definition).toMatchObject({ line: 21 });
  });
  it('finds symbols where sizes stand, and not in names of axes, inputs and attributes', () => {
    expect(listing.names.filter((n) => n.kind === 'symbol').map((n) => n.name)).toEqual(['N', 'H', 'W', 'M', 'K']);
    expect(linesOf('symbol', 'W')).toEqual([3, 6, 6, 8, 11, 13, 14]);
    expect(find('symbol', 'W').definition?.line).toBe(2);
    expect(find('symbol', 'M').definition?.line).toBe(17);
  });
  it('finds blocks and constants', () => {
    expect(linesOf('block', 'b1', 1)).toEqual([24, 25]);
    expect(find('constant', '%scale').definition?.line).toBe(3);
  });
  it('names what stands at a place', () => {
    expect(listing.at(13, 18)?.name.name).toBe('R3');
    expect(listing.at(13, 11)).toBeUndefined();
  });
  it('knows mnemonics, operators and kinds', () => {
    expect(listing.operations.get(13)).toMatchObject({ mnemonic: 'OP_CALL', operator: { name: 'Resize' } });
    expect(listing.operations.get(10)).toMatchObject({ mnemonic: 'TENSOR_VIEW', kind: { name: 'slice' } });
    expect(listing.operations.size).toBe(8 + 6);
  });
  it('reads ten thousand instructions at once', () => {
    const many = `${NECK}${'  OP_CALL Add(R0, R1) -> R2 ; model.py:1\n'.repeat(10_000)}`;
    expect(readListing(many).operations.size).toBe(10_014);
  });
});

describe('documentation', () => {
  it('has equation and doc of every instruction', () => {
    for (const i of tables.instructions) {
      const text = instructionDoc(i);
      expect(text).toContain(i.equation);
      expect(text).toContain(i.syntax[0]);
    }
  });
  it('has attributes of operators with their choices', () => {
    const resize = operator('Resize');
    expect(resize && operatorDoc(resize)).toMatch(/\| `mode` \| `nearest`, `linear`, `cubic` \|/);
    const at = (lines[13] ?? '').indexOf('mode');
    expect(attributeAt(lines[13] ?? '', at, at + 4, listing.operations.get(13), operator)).toMatch(/\*\*mode\*\* of `Resize`/);
  });
  it('shows where a name is defined', () => {
    expect(nameDoc(find('register', 'R3', 0), lines)).toContain('R3: f32[N, 64, H, W] strided = TENSOR_VIEW slice');
    expect(nameDoc(find('register', 'R3', 0), lines)).toContain('used 2 times');
  });
  it('gives kinds first', () => {
    const view = instruction('TENSOR_VIEW');
    expect(view && instructionDoc(view, 'slice').startsWith('`slice`: ')).toBe(true);
  });
});

describe('completion', () => {
  const at = (text: string, line = 10) => {
    const changed = [...lines];
    changed.splice(line, 0, text);
    return complete(readListing(changed.join('\n')), changed, line, text.length).map((i) => i.label);
  };
  it('offers what fits the place', () => {
    expect(at('  OP_CALL Re')).toContain('Resize');
    expect(at('  R9 = ')).toEqual(expect.arrayContaining(['TENSOR_ALLOC', 'OP_CALL']));
    expect(at('  R9 = ')).not.toContain('RETURN');
    expect(at('  ')).toEqual(expect.arrayContaining(['RETURN', 'TENSOR_FREE']));
    expect(at('  TENSOR_FREE ')).toEqual(expect.arrayContaining(['R0', 'R1', 'R2']));
    expect(at('  TENSOR_FREE ')).not.toContain('R4');
    expect(at('  R9 = SHAPE_CALC ')).toContain('floordiv');
    expect(at('  OP_CALL Resize(R0) -> R1 {')).toEqual(expect.arrayContaining(['mode', 'precision']));
    expect(at('  OP_CALL Resize(R0) -> R1 {mode: ')).toContain('nearest');
    expect(at('  R9: ')).toContain('f32');
    expect(at('  R9 = TENSOR_CONST ')).toContain('%scale');
    expect(at('  JUMP ', 23)).toContain('b1');
  });
  it('is quiet in comments and strings', () => {
    expect(at('  RETURN R4 ; OP_CALL ')).toEqual([]);
    expect(at('  SHAPE_ASSERT R1, "OP_CALL ')).not.toContain('R0');
  });
});

describe('columns', () => {
  it('count bytes there and UTF-16 here', () => {
    expect(character('  R0 "größe" = X', 7)).toBe(6);
    expect(character('"größe" = X', 13)).toBe(11 - 1);
    expect(character('"\u{1f600}" R0', 7)).toBe(4);
    expect(character('ab', 99)).toBe(2);
  });
});
