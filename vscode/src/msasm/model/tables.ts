// The tables of instructions and operators: `msvm info --instructions --json`, as the extension carries them. A test holds the copy current.
import raw from '../../../language/tables.json';

export interface Kind {
  readonly name: string;
  readonly doc: string;
}

export interface Instruction {
  readonly mnemonic: string;
  readonly opcode: number;
  readonly equation: string;
  readonly doc: string;
  readonly operands: string;
  readonly flags?: string;
  readonly result: boolean;
  readonly syntax: readonly string[];
  readonly kinds?: readonly Kind[];
}

export interface Attribute {
  readonly name: string;
  readonly type: string;
  readonly doc: string;
  readonly required?: boolean;
  readonly default?: string;
  readonly choices?: readonly string[];
}

export interface Operator {
  readonly name: string;
  readonly signature: string;
  readonly doc: string;
  readonly dtypes: string;
  readonly sizes?: string;
  readonly attributes?: readonly Attribute[];
}

export interface Tables {
  readonly dtypes: readonly string[];
  readonly instructions: readonly Instruction[];
  readonly operators: readonly Operator[];
}

export const tables: Tables = raw;

const instructions = new Map(tables.instructions.map((each) => [each.mnemonic, each]));
const operators = new Map(tables.operators.map((each) => [each.name, each]));

export const instruction = (mnemonic: string): Instruction | undefined => instructions.get(mnemonic);
export const operator = (name: string): Operator | undefined => operators.get(name);
export const isDtype = (word: string): boolean => tables.dtypes.includes(word);
