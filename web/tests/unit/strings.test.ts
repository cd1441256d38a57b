import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sentence } from '../../src/text/sentences.ts';
import { named, preferred, STRINGS, translator } from '../../src/text/strings.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((f) => /\.tsx?$/.test(f) && !f.endsWith('strings.ts'));
const code = files.map((f) => readFileSync(`${source}/${f}`, 'utf8')).join('\n');
const holes = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1] ?? '').sort();

/** Keys made of a prefix and a name that programs send, or that another table has. */
const MADE = /^(phase|urgency|owner|kind|severity|state|event|finding|tier|mode|theme|status|lost|series)_/;
/** The same in both languages: names of things. */
const SAME = new Set(['shown_of', 'gflops', 'gbytes', 'scd', 'python', 'series_p50', 'series_p99', 'p50', 'p90', 'p99', 'p999']);

/** Keys whose texts don't do as they should: none. */
const wrong = (right: (key: string, texts: readonly [string, string]) => boolean): string[] =>
  Object.entries(STRINGS)
    .filter(([key, texts]) => !right(key, texts))
    .map(([key]) => key);

describe('strings', () => {
  it('are there in every language', () => expect(wrong((_, texts) => texts.every((text) => text.trim() !== ''))).toEqual([]));
  it('have the same holes in every language', () => expect(wrong((_, [english, chinese]) => String(holes(english)) === String(holes(chinese)))).toEqual([]));
  it('are Chinese in Chinese, and not in English', () => {
    const han = (text: string) => /\p{Script=Han}/u.test(text);
    expect(wrong((key, [english, chinese]) => key === 'language' || (!han(english) && han(chinese) !== SAME.has(key)))).toEqual([]);
    expect(STRINGS.language).toEqual(['中文', 'English']);
  });
  it('are used', () => expect(wrong((key) => MADE.test(key) || code.includes(`'${key}'`) || code.includes(`"${key}"`))).toEqual([]));
});

describe('translator', () => {
  it('fills holes', () => {
    expect(translator('en')('shown_of', { n: 3, all: 10 })).toBe('3 of 10');
    expect(translator('zh')('shown_of', { n: 3, all: 10 })).toBe('3 / 10');
  });
  it('leaves a hole that has no value', () => expect(translator('en')('shown_of', { n: 3 })).toBe('3 of {all}'));
  it('names what programs send, and shows as it is what it doesn’t know', () => {
    expect(named(translator('zh'), 'event', 'hot patch')).toBe('热补丁');
    expect(named(translator('zh'), 'event', 'melted')).toBe('melted');
    expect(named(translator('zh'), 'event', 'constructor')).toBe('constructor');
  });
  it('starts in the reader’s language', () => {
    expect(preferred(['zh-TW', 'en'])).toBe('zh');
    expect(preferred(['de', 'zh'])).toBe('en');
    expect(preferred([])).toBe('en');
  });
});

describe('sentences of programs', () => {
  it.each([
    ['Fallback triggered at line 47', '第 47 行触发回退'],
    ['Kernel not found for op MatMul (fp16) on device CPU(0) [avx2]', '设备 CPU(0) [avx2] 上找不到算子 MatMul（fp16）的内核'],
    ['Capability DB updated', '能力库已更新'],
    ['anything else', 'anything else'],
  ])('%s', (english, chinese) => {
    expect(sentence(english, 'zh')).toBe(chinese);
    expect(sentence(english, 'en')).toBe(english);
  });
});
