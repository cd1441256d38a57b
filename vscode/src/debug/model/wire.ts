// What the adapter's own requests and events carry (docs/debugging.md). What is missing becomes a default.
import { boolean, list, number, numberOrNull, object, oneOf, orNull, string, type Read } from '../../../../web/src/api/decode.ts';

const numberOrText = (raw: unknown): number | string => (typeof raw === 'number' || typeof raw === 'string' ? raw : 0);

export const readStatus = object({ text: string, mode: oneOf(['interpreter', 'jit'], 'interpreter'), signature: string, address: string, running: boolean });

export const readListing = object({
  uri: string,
  address: string,
  program: number,
  name: string,
  text: string,
  version: number,
  lines: list(
    object({
      line: number,
      address: string,
      offset: number,
      instruction: number,
      function: number,
      opcode: string,
      tier: number,
      region: numberOrNull,
      signature: string,
      place: string,
    }),
  ),
});

const register = object({
  reg: string,
  name: string,
  kind: string,
  text: string,
  declared: string,
  shape: list(object({ axis: string, symbol: string, value: number })),
  dtype: string,
  device: string,
  layout: string,
  strides: list(number),
  memory_addr: string,
  is_jit_compiled: boolean,
  bytes: number,
  owner: string,
  reused_from: string,
  state: string,
  changed: boolean,
  value: string,
});

export const readRegisters = object({ threadId: number, total: number, registers: list(register) });

/** An operand: its name in the operator's table, and the register. */
const operand = (raw: unknown) => ({ operand: object({ operand: string })(raw).operand, value: register(raw) });

export const readCall = orNull(
  object({
    op: string,
    attributes: string,
    inputs: list(operand),
    outputs: list(operand),
    arguments: list(string),
    candidates: list(object({ kernel: string, chosen: boolean, cost_ns: numberOrNull, reason: string })),
    note: string,
    origins: list(string),
  }),
);

export const readBuffers = list(object({ address: string, bytes: number, owner: string, registers: list(string), reused_from: string }));

export const readTensor = object({
  dtype: string,
  shape: list(number),
  strides: list(number),
  total: number,
  values: list((raw) => (typeof raw === 'boolean' ? Number(raw) : numberOrText(raw))),
  truncated: boolean,
  statistics: object({
    min: numberOrNull,
    max: numberOrNull,
    mean: numberOrNull,
    nan: number,
    inf: number,
    zeros: number,
    histogram: object({ edges: list(number), counts: list(number) }),
  }),
});

export const readVersions = object({ msvm: string, format: string, dap: numberOrNull, capabilityDb: object({ format: numberOrNull, patch: string }) });

export const readPatched = object({ program: number, region: number, signature: string, oldTier: number, newTier: number, address: string, text: string });

export const readUnverified = object({ name: string, diagnostics: list(object({ code: string, message: string, address: string, line: number, fix: string })) });

/** `python`: the interpreter that lacks debugpy, where it is known. */
export const readBytecodeOnly = object({ text: string, python: string });

export const readListingChanged = object({ uri: string, version: number });
export const readProgramLoaded = object({ program: number, name: string, uri: string });

export type Status = Read<typeof readStatus>;
export type Listing = Read<typeof readListing>;
export type ListingLine = Listing['lines'][number];
export type Register = Read<typeof register>;
export type Registers = Read<typeof readRegisters>;
export type Call = NonNullable<Read<typeof readCall>>;
export type Buffer = Read<typeof readBuffers>[number];
export type Tensor = Read<typeof readTensor>;
export type Versions = Read<typeof readVersions>;
