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
    ['Fallback triggered at line 47: timed out after 2.1 s (jit_640x480 instead)', '第 47 行触发回退：编译超时 after 2.1 s（改用 jit_640x480）'],
    ['Fallback triggered in @main#0: no compiler (interpreter instead)', '@main#0 中触发回退：没有编译器（改用 解释器）'],
    ['Fallback triggered in @main#0: no compiler', '@main#0 中触发回退：没有编译器'],
    [
      'hit rate 0.41 over the latest 1000 runs; @main#0 ran interpreted most often; open symbols: H, W; propagation is broken at R3 (neck.py:5)',
      '最近 1000 次运行的命中率为 0.41；@main#0 最常被解释执行；未绑定的符号：H, W；传播在 R3 (neck.py:5) 处中断',
    ],
    ['the region stays interpreted; `msvm report` makes a bundle for a bug report', '该区域保持解释执行；`msvm report` 可生成用于报告问题的归档'],
    ['memory in use grows steadily, from 12.0 MiB to 96.5 MiB in 60 s, most of it by results', '内存占用持续增长：60 秒内从 12.0 MiB 增至 96.5 MiB，主要来自 results'],
    [
      'memory in use grows steadily, from 1.0 MiB to 2.0 MiB in 60 s, most of it by arena: mem_optimize=True makes plans that need less',
      '内存占用持续增长：60 秒内从 1.0 MiB 增至 2.0 MiB，主要来自 arena（mem_optimize=True 可生成更省内存的计划）',
    ],
    ['2 branches in the inner loop at 0x40 to 0x88 by n0 (W): asked again in each round', '内层循环（0x40 至 0x88）中有 2 个按 n0 (W) 的分支：每轮重复判断'],
    ['known nothing; buckets wouldn\'t help', 'known nothing；分桶不会有帮助'],
    ['anything else', 'anything else'],
    ['', ''],
  ])('%s', (english, chinese) => {
    expect(sentence(english, 'zh')).toBe(chinese);
    expect(sentence(english, 'en')).toBe(english);
  });

  it('knows every mend of the core', () => {
    const source = readFileSync(new URL('../../../src/observe/snapshot/advice.cpp', import.meta.url), 'utf8');
    const mends = [...source.matchAll(/^ {4}\{"[^"]+", "([^"]+)"\},$/gm)].map((m) => m[1] ?? '');
    expect(mends.length).toBeGreaterThan(4);
    for (const mend of mends) for (const clause of sentence(mend, 'zh').split('；')) expect(clause).toMatch(/[\u4e00-\u9fff]/);
  });
});
