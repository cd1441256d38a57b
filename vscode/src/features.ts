// Every feature of the extension, one a line.
import { debugging } from './debug/debugging.ts';
import type { Feature } from './services.ts';

export const features: readonly Feature[] = [debugging];
