// Reads CSV as RFC 4180 has it: an independent look at what the page writes.
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let quoted = false;
  for (let k = 0; k < text.length; ++k) {
    const c = text[k] ?? '';
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[k + 1] === '"') field += text[++k] ?? '';
      else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ',' || c === '\n') {
      row.push(field.replace(/\r$/, ''));
      field = '';
      if (c === '\n') {
        rows.push(row);
        row = [];
      }
    } else field += c;
  }
  return rows;
}
