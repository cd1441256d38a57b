// The TextMate grammar, made from the tables. language/msasm.tmLanguage.json is what it makes; a test holds the two together.
import type { Tables } from './tables.ts';

const words = (list: readonly string[]): string => [...list].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).map((w) => w.replaceAll('.', String.raw`\.`)).join('|');
const scope = (name: string): string => `${name}.msasm`;

const STATEMENTS = ['module', 'version', 'producer', 'opset', 'opt_level', 'metadata', 'symbol', 'const', 'func', 'register'];
const WORDS = ['in', 'multiple_of', 'plus', 'input', 'new', 'axis', 'from', 'to', 'step', 'reuse', 'captured', 'round_f32', 'raw', 'donated', 'strided', 'filled', 'none'];
const RAW = ['sub', 'uses', 'dims', 'imms', 'outs', 'targets', 'text', 'names', 'attrs'];
const FUNCTIONS = ['floordiv', 'ceildiv', 'mod', 'min', 'max', 'bcast'];
const TIERS = ['interpreted', 'native', 'specialised'];

export function grammar(tables: Tables): object {
  const kinds = [...new Set(tables.instructions.flatMap((i) => (i.kinds ?? []).map((k) => k.name)))].filter((k) => /^[a-z_]+$/.test(k) && k !== 'input');
  const terminators = tables.instructions.filter((i) => i.flags?.includes('ends a block')).map((i) => i.mnemonic);
  const others = tables.instructions.map((i) => i.mnemonic).filter((m) => !terminators.includes(m));
  const string = { name: scope('string.quoted.double'), begin: '"', end: '"|$', patterns: [{ name: scope('constant.character.escape'), match: String.raw`\\(?:x[0-9a-fA-F]{2}|.)` }] };
  const attributes = {
    begin: String.raw`\{`,
    end: String.raw`\}`,
    beginCaptures: { 0: { name: scope('punctuation.section.braces.begin') } },
    endCaptures: { 0: { name: scope('punctuation.section.braces.end') } },
    patterns: [{ match: String.raw`([A-Za-z_][\w.]*)\s*(?=:)`, captures: { 1: { name: scope('variable.parameter.attribute') } } }, { include: '#values' }],
  };
  return {
    $schema: 'https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json',
    name: 'MSVM Assembly',
    scopeName: 'source.msasm',
    patterns: [
      { include: '#comment' },
      {
        match: String.raw`^\s*(func)\s+(@(?:"(?:\\.|[^"\\])*"|[\w.]+))`,
        captures: { 1: { name: scope('keyword.declaration') }, 2: { name: scope('entity.name.function') } },
      },
      { match: String.raw`^\s*(b\d+)(:)`, captures: { 1: { name: scope('entity.name.label') }, 2: { name: scope('punctuation.separator') } } },
      { match: String.raw`^\s*(${words(STATEMENTS)})\b`, captures: { 1: { name: scope('keyword.declaration') } } },
      {
        match: String.raw`\b(OP_CALL)\s+("(?:\\.|[^"\\])*"|[\w.]+)`,
        captures: { 1: { name: scope('keyword.control.call') }, 2: { name: scope('entity.name.function.operator') } },
      },
      { name: scope('keyword.control.flow'), match: String.raw`\b(?:${words(terminators)})\b` },
      { name: scope('keyword.control.instruction'), match: String.raw`\b(?:${words(others)})\b` },
      { include: '#attributes' },
      { include: '#values' },
    ],
    repository: {
      comment: {
        name: scope('comment.line.semicolon'),
        begin: ';',
        end: '$',
        patterns: [
          { name: scope('comment.line.place'), match: String.raw`[^\s:;"]+:\d+(?::\d+)?` },
          { name: scope('comment.line.offset'), match: String.raw`\b0x[0-9a-f]+\b` },
          { name: scope('comment.line.tier'), match: String.raw`\b(?:${words(TIERS)})\b` },
        ],
      },
      // A semicolon in round brackets stands before size arguments.
      brackets: {
        begin: String.raw`\(`,
        end: String.raw`\)|(?=^\s*(?:func\b|b\d+:))`,
        patterns: [{ name: scope('punctuation.separator.sizes'), match: ';' }, { include: '#values' }],
      },
      attributes,
      values: {
        patterns: [
          { include: '#brackets' },
          string,
          { name: scope('variable.language.register'), match: String.raw`\bR\d+\b` },
          { name: scope('entity.name.label'), match: String.raw`\bb\d+\b` },
          { name: scope('variable.other.constant.tensor'), match: String.raw`%(?:"(?:\\.|[^"\\])*"|[\w.]+)` },
          { name: scope('entity.name.function'), match: String.raw`@(?:"(?:\\.|[^"\\])*"|[A-Za-z_][\w.]*)` },
          { name: scope('storage.type'), match: String.raw`\b(?:${words([...tables.dtypes, 'list'])})\b` },
          { name: scope('storage.modifier'), match: String.raw`@nhwc\b|\b(?:strided|filled|donated|CPU|sim)\b` },
          { name: scope('support.function.size'), match: String.raw`\b(?:${words(FUNCTIONS)})(?=\()` },
          { name: scope('keyword.other.kind'), match: String.raw`\b(?:${words(kinds)})\b(?=\s+(?:R\d|-?\d|[A-Za-z]))` },
          { name: scope('keyword.other'), match: String.raw`\b(?:${words([...WORDS, ...RAW])})\b(?!\s*:)` },
          { name: scope('constant.language'), match: String.raw`\b(?:true|false|inf|nan|dynamic|elided)\b` },
          { name: scope('constant.numeric'), match: String.raw`\b0x[0-9a-fA-F]+\b|(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b` },
          { name: scope('keyword.operator'), match: String.raw`->|//|[-+*%=]` },
          { name: scope('variable.other.symbol'), match: String.raw`\b[A-Za-z_][\w.]*\b` },
        ],
      },
    },
  };
}
