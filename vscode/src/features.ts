// Every feature of the extension, one a line.
import { bytecode } from './bytecode/bytecode.ts';
import { codelens } from './codelens/codelens.ts';
import { debugging } from './debug/debugging.ts';
import { monitor } from './monitor/monitor.ts';
import { language } from './msasm/language.ts';
import { bytecodeFiles } from './msbc/opening.ts';
import { registers } from './registers/registers.ts';
import { reports } from './reports/reports.ts';
import { status } from './status/status.ts';
import { traces } from './trace/editor.ts';
import { validate } from './validate/validate.ts';
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
  language,
  bytecodeFiles,
  validate,
  traces,
  monitor,
];
