// Every feature of the extension, one a line.
import { bytecode } from './bytecode/bytecode.ts';
import { codelens } from './codelens/codelens.ts';
import { debugging } from './debug/debugging.ts';
import { registers } from './registers/registers.ts';
import { reports } from './reports/reports.ts';
import { status } from './status/status.ts';
import { values } from './values/values.ts';
import type { Feature } from './services.ts';

export const features: readonly Feature[] = [
  debugging,
  bytecode,
  status,
  registers,
  values,
  codelens,
  reports,
];
