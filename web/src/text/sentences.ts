// Sentences that programs send in English, in Chinese: rules, each for a part. What no rule knows stays as it came.
import type { Language } from './strings.ts';

type Rule = readonly [pattern: RegExp, chinese: string];

/** `$1` is what the pattern caught, `{1}` the same put through the rules. */
const SENTENCES: readonly Rule[] = [
  // Warnings.
  [/^Fallback triggered at line (\d+)$/, '第 $1 行触发回退'],
  [/^Fallback triggered at line (\d+): (.+?)(?: \((.+) instead\))?$/, '第 $1 行触发回退：{2}（改用 {3}）'],
  [/^Fallback triggered in (\S+): (.+?)(?: \((.+) instead\))?$/, '$1 中触发回退：{2}（改用 {3}）'],
  [/^Kernel not found for op (\S+) \((\S+)\) on device (\S+) \[(\S+)\]$/, '设备 $3 [$4] 上找不到算子 $1（$2）的内核'],
  [/^Capability DB updated(.*)$/, '能力库已更新$1'],
  [/^hit rate ([\d.]+) over the latest (\d+) runs$/, '最近 $2 次运行的命中率为 $1'],
  [/^(\S+) ran interpreted most often$/, '$1 最常被解释执行'],
  [/^open symbols: (.+)$/, '未绑定的符号：$1'],
  [/^propagation is broken at (.+)$/, '传播在 $1 处中断'],
  [/^fewer than (\d+) % of the latest runs were native$/, '最近的运行中不到 $1 % 为本机代码'],
  [/^most of the others were of (.+?): (.+)$/, '其余多为 $1：{2}'],
  // Why a request for code ended.
  [/^timed out(.*)$/, '编译超时$1'],
  [/^compiler crashed(.*)$/, '编译器崩溃$1'],
  [/^compiler out of memory(.*)$/, '编译器内存不足$1'],
  [/^no compiler(.*)$/, '没有编译器$1'],
  [/^refused(.*)$/, '被拒绝$1'],
  [/^nonsense from the compiler(.*)$/, '编译器返回无效内容$1'],
  [/^interpreter$/, '解释器'],
  // What would help.
  [/^raise compile_timeout, or leave it interpreted: it is tried again when something changes$/, '请调大 compile_timeout，或保持解释执行：情况变化时会重试'],
  [/^the region stays interpreted$/, '该区域保持解释执行'],
  [/^`msvm report` makes a bundle for a bug report$/, '`msvm report` 可生成用于报告问题的归档'],
  [/^split the function, or give the machine more memory$/, '请拆分函数，或为机器增加内存'],
  [/^install msvm-cc beside the program, or name it by MSVM_CC$/, '请将 msvm-cc 安装在程序旁，或用 MSVM_CC 指定'],
  [/^MSVM_CC names another build's compiler, or the file is damaged: install it again$/, 'MSVM_CC 指向另一版本的编译器，或文件已损坏：请重新安装'],
  [/^`msvm jit-info` shows what became of the region$/, '`msvm jit-info` 显示该区域的情况'],
  [/^every entry is made again, call sites choose anew$/, '所有条目将重新生成，调用处将重新选择'],
  [/^`msvm cap` shows the database$/, '`msvm cap` 显示能力库'],
  [/^its code isn't ready yet: warm_up\(\) waits for it$/, '代码尚未就绪：warm_up() 会等待'],
  [/^buckets wouldn't help$/, '分桶不会有帮助'],
  [/^buckets would help: (.+) would serve (\d+) % of the runs seen by code of their own instead of (\d+) %$/, '分桶会有帮助：$1 可使 $2 % 的运行使用专用代码（现为 $3 %）'],
  [/^cache_mode="adaptive" learns such boundaries$/, 'cache_mode="adaptive" 会自动学习这样的边界'],
  // Memory.
  [/^memory in use grows steadily, from (.+) to (.+) in (\d+) s, most of it by (\w+)(?:: (.+))?$/, '内存占用持续增长：$3 秒内从 $1 增至 $2，主要来自 $4（{5}）'],
  [/^mem_optimize=True makes plans that need less$/, 'mem_optimize=True 可生成更省内存的计划'],
  [/^sizes grow from run to run$/, '各次运行的尺寸不断变大'],
  [/^mem_optimize=True leaves more room for them$/, 'mem_optimize=True 可留出更多空间'],
  [/^programs are loaded and kept$/, '已加载的程序一直被保留'],
  [/^drop those that aren't used any more, mem_optimize=True lowers what each needs$/, '请释放不再使用的程序，mem_optimize=True 可降低每个程序的需求'],
  [/^results of runs are kept$/, '运行结果一直被保留'],
  [/^copy out what is needed and drop them, mem_optimize=True lowers what runs need beside them$/, '请复制所需内容后释放，mem_optimize=True 可降低运行的其他需求'],
  // Findings of a disassembly.
  [/^(\d+) instructions? of (.+) moves? sizes between memory and registers in each round: (.+)$/, '{2}中有 $1 条指令每轮都在内存与寄存器间搬运尺寸：$3'],
  [/^(\d+) nops? \((\d+) bytes\) run in each round of (.+)$/, '{3}每轮执行 $1 条 nop（$2 字节）'],
  [/^(\d+) branch(?:es)? in (.+) by (.+): asked again in each round$/, '{2}中有 $1 个按 $3 的分支：每轮重复判断'],
  [/^(\d+) vector access(?:es)? of (.+) in inner loops: not aligned to their size$/, '内层循环中对{2}的 $1 次向量访问未按其大小对齐'],
  [/^(\d+) vector access(?:es)? of (.+) in inner loops: those of most rows cross cache lines, as rows begin (\d+) bytes apart, no multiple of the access's size$/, '内层循环中对{2}的 $1 次向量访问：行距 $3 字节，不是访问大小的倍数，多数行会跨缓存行'],
  [/^constants beside the code$/, '代码旁的常量'],
  [/^the stack$/, '栈'],
  [/^the inner loop at (\S+) to (\S+)$/, '内层循环（$1 至 $2）'],
  [/^the loop over rows at (\S+) to (\S+)$/, '行循环（$1 至 $2）'],
  [/^instruction (\d+), (\S+) \((.*)\), runs as (.+)$/, '指令 $1（$2，$3）以 $4 运行'],
  [/^code for fixed sizes has numbers there: name them \(ms\.vm\.warmup, msvm compile -s\) or let them settle$/, '固定尺寸的代码此处为常数：请指定尺寸（ms.vm.warmup、msvm compile -s）或待其稳定'],
  [/^code for fixed sizes has none of them: name the sizes \(ms\.vm\.warmup, msvm compile -s\) or let them settle$/, '固定尺寸的代码没有这些分支：请指定尺寸（ms.vm.warmup、msvm compile -s）或待其稳定'],
  [/^dense tensors have fewer strides$/, '稠密张量的步长更少'],
  [/^the code generator put them there: report it with this listing and its loop program$/, '由代码生成器产生：请附此清单及循环程序报告'],
  [/^the compiler laid them out: report it with this listing$/, '由编译器布局：请附此清单报告'],
  [/^the code generator laid it out: report it with this listing$/, '由代码生成器布局：请附此清单报告'],
  [/^a group of fewer calls needs fewer registers$/, '调用更少的组需要更少的寄存器'],
  [/^rows whose bytes are a multiple of 64 are aligned: pad that axis, or choose sizes that are$/, '行字节数为 64 的倍数即对齐：请填充该轴，或选择合适的尺寸'],
  [/^this build has no better kernel for it at these sizes: a tuned one would have to be written$/, '此版本在这些尺寸下没有更好的内核：需另行编写'],
];

function ruled(text: string): string | undefined {
  for (const [pattern, chinese] of SENTENCES) {
    const caught = pattern.exec(text);
    if (!caught) continue;
    return chinese
      .replace(/（[^（）{]*\{(\d)\}[^（）]*）/g, (whole, k: string) => (caught[Number(k)] === undefined ? '' : whole))
      .replace(/\{(\d)\}|\$(\d)/g, (_, part: string | undefined, plain: string | undefined) => (part ? translated(caught[Number(part)] ?? '') : (caught[Number(plain)] ?? '')));
  }
  return undefined;
}

/** The whole if there is a rule for it, else its clauses. */
function translated(text: string): string {
  const whole = ruled(text);
  if (whole !== undefined || !text.includes('; ')) return whole ?? text;
  const clauses = text.split('; ');
  return clauses.map((clause) => ruled(clause) ?? clause).join('；');
}

export function sentence(text: string, language: Language): string {
  return language === 'en' ? text : translated(text);
}
