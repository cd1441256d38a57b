import { describe, expect, it } from 'vitest';
import { csv, csvName, type Value } from '../../src/table/csv.ts';

const columns = [
  { id: 'name', value: (row: readonly Value[]) => row[0] ?? null },
  { id: 'value', value: (row: readonly Value[]) => row[1] ?? null },
];
const line = (...row: Value[]): string => csv(columns, [row]).split('\r\n')[1] ?? '';

describe('csv', () => {
  it('begins with the columns’ names and ends each line as RFC 4180 says', () => {
    expect(csv(columns, [['a', 1]])).toBe('name,value\r\na,1\r\n');
    expect(csv(columns, [])).toBe('name,value\r\n');
  });
  it('quotes what needs it', () => {
    expect(csv(columns, [['a, "b"\nc', 2]])).toBe('name,value\r\n"a, ""b""\nc",2\r\n');
  });
  it('keeps text beyond ASCII', () => expect(line('回退', 1)).toBe('回退,1'));
  it('writes nothing for null', () => expect(line(null, null)).toBe(','));
  it('writes numbers with dot decimals and without exponents', () => {
    expect(line('x', 0.25)).toBe('x,0.25');
    expect(line('x', -3)).toBe('x,-3');
    expect(line('x', 1e-7)).toBe('x,0.000000100000');
    expect(line('x', 1e21)).toBe('x,1000000000000000000000');
    expect(line('x', NaN)).toBe('x,');
  });
  it('keeps spreadsheets from running names as formulas', () => {
    expect(line('=1+1', 0)).toBe("'=1+1,0");
    expect(line('+cmd', 0)).toBe("'+cmd,0");
    expect(line('-2', 0)).toBe("'-2,0");
    expect(line('@SUM(A1)', 0)).toBe("'@SUM(A1),0");
    expect(line('@main instructions 3 to 141', 0)).toBe('@main instructions 3 to 141,0');
  });
  it('names files by view and time', () => {
    expect(csvName('cache', '2026-12-01T09:30:08.123Z')).toBe('msvm-cache-2026-12-01T09-30-08.csv');
  });
});
