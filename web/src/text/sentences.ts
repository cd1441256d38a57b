// Sentences that programs send in English, in Chinese. What isn't here is shown as it came.
import type { Language } from './strings.ts';

const CHINESE: readonly (readonly [pattern: RegExp, chinese: string])[] = [
  [/^Fallback triggered at line (\d+)$/, '第 $1 行触发回退'],
  [/^Kernel not found for op (\S+) \((\S+)\) on device (\S+) \[(\S+)\]$/, '设备 $3 [$4] 上找不到算子 $1（$2）的内核'],
  [/^Capability DB updated$/, '能力库已更新'],
];

export function sentence(text: string, language: Language): string {
  if (language === 'en') return text;
  const known = CHINESE.find(([pattern]) => pattern.test(text));
  return known ? text.replace(known[0], known[1]) : text;
}
