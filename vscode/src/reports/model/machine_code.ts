// Machine code of a JIT entry as a document: findings first, then each kernel's lines with where they come from.
import type { Disassembly } from '../../../../web/src/api/schema.ts';

const WIDTH = 56;

export function machineCode(name: string, { entry, kernels, findings, calls }: Disassembly): string {
  const out = [name === entry ? `; ${name}` : `; ${name}: ${entry}`, ''];
  if (findings.length === 0) out.push('; no findings');
  for (const { kind, kernel, line, text, mend } of findings) {
    out.push(`; ${kind}: ${text} (kernel ${kernels[kernel]?.name ?? kernel}, line ${line + 1})`);
    if (mend !== '') out.push(`;   ${mend}`);
  }
  for (const kernel of kernels) {
    out.push('', `${kernel.name}:  ; ${kernel.size} bytes`);
    const digits = Math.max(0, ...kernel.lines.map(({ address }) => address.length));
    let from = '';
    for (const each of kernel.lines) {
      const place = [...each.places, ...each.instructions.map((instruction) => `instruction ${instruction}`)].join(', ');
      const finding = each.finding === null ? '' : `  <- ${findings[each.finding]?.kind ?? 'finding'}`;
      const note = place === from ? '' : place;
      if (place !== '') from = place;
      out.push(`  ${each.address.padEnd(digits)}  ${note === '' && finding === '' ? each.text : `${each.text.padEnd(WIDTH)}  ; ${note}${finding}`}`);
    }
  }
  if (calls.length > 0) out.push('', '; calls beside the kernels', ...calls.map(({ instruction, operator, kernel }) => `;   instruction ${instruction}: ${operator}, ${kernel}`));
  return `${out.join('\n')}\n`;
}
