// The view MS Registers: registers of the thread that waits, the call that comes next, the buffers that live.
import * as vscode from 'vscode';
import { readBuffers, readCall, readRegisters, type Call } from '../debug/model/wire.ts';
import type { Sessions, Stopped } from '../debug/sessions.ts';
import { bufferField, callLabel, candidateField, PAGE, pages, registerRow, type Field, type RegisterRow } from './model/rows.ts';

export type Node =
  | { readonly type: 'register'; readonly row: RegisterRow; readonly at: Stopped }
  | { readonly type: 'page'; readonly first: number; readonly count: number; readonly at: Stopped }
  | { readonly type: 'group'; readonly label: string; readonly value?: string | undefined; readonly icon: string; readonly open?: boolean; readonly children: readonly Node[] }
  | { readonly type: 'field'; readonly field: Field; readonly icon?: string; readonly chosen?: boolean };

export const CHANGED = 'msvm-changed';
const ICONS = { tensor: 'symbol-array', scalar: 'symbol-numeric', list: 'symbol-enum', unset: 'circle-outline' } as const;
const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;

export class RegisterTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #sessions: Sessions;
  readonly #drawn: (rows: readonly RegisterRow[], message: string | undefined) => void;
  #draws = 0;
  /** What the editor is given when it asks. */
  #rows: Promise<Node[]> | undefined;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(sessions: Sessions, drawn: (rows: readonly RegisterRow[], message: string | undefined) => void) {
    this.#sessions = sessions;
    this.#drawn = drawn;
  }

  /** Nothing is debugged any more: what is shown goes at once, also while the view is hidden and isn't asked for rows. */
  clear(): void {
    this.#draws++;
    this.#drawn([], undefined);
    this.#rows = Promise.resolve([]);
    this.#changed.fire(undefined);
  }

  /** Of a view in sight, the new rows are there before the editor is told: from then on until it has them, it doesn't know which row a click means. */
  async refresh(visible: boolean): Promise<void> {
    const rows = visible ? this.#top() : undefined;
    const draw = this.#draws;
    await rows;
    if (draw !== this.#draws) return; // a later one is on its way
    this.#rows = rows;
    this.#changed.fire(undefined);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.type) {
      case 'register':
        return registerItem(node.row);
      case 'page':
        return item(`R${node.first}–R${node.first + node.count - 1}`, { state: Collapsed, icon: 'ellipsis', id: `page ${node.first}` });
      case 'group':
        return item(node.label, { state: node.open === true ? Expanded : Collapsed, icon: node.icon, value: node.value, id: `group ${node.icon}` });
      case 'field':
        return fieldItem(node.field, node.icon, node.chosen === true);
    }
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) return (this.#rows ??= this.#top());
    switch (node.type) {
      case 'register':
        return node.row.fields.map((field) => ({ type: 'field', field }));
      case 'page':
        return (await this.#registers(node.at, node.first, node.count)).nodes;
      case 'group':
        return [...node.children];
      case 'field':
        return (node.field.fields ?? []).map((field) => ({ type: 'field', field }));
    }
  }

  async #top(): Promise<Node[]> {
    const draw = ++this.#draws;
    const at = this.#sessions.waiting;
    if (at === undefined) {
      this.#drawn([], this.#sessions.current === undefined ? undefined : 'The program runs.');
      return [];
    }
    const [registers, call, buffers] = await Promise.all([this.#registers(at, 0, PAGE), this.#ask('msvm/call', at), this.#ask('msvm/buffers', at)]);
    const rows = registers.nodes.flatMap((each) => (each.type === 'register' ? [each.row] : []));
    // The answers of a later stop, or its end, may have come before these.
    if (draw === this.#draws) this.#drawn(rows, registers.total === 0 ? 'No bytecode runs in this thread. Step into a jitted function to see its registers.' : undefined);
    const next = readCall(call);
    const live = readBuffers(buffers).map(bufferField);
    return [
      ...registers.nodes,
      ...pages(registers.total).map(([first, count]): Node => ({ type: 'page', first, count, at })),
      ...(next === null ? [] : [callNode(next, at)]),
      ...(live.length === 0 ? [] : [{ type: 'group', label: 'Live buffers', value: String(live.length), icon: 'database', children: live.map((field): Node => ({ type: 'field', field, icon: 'symbol-field' })) } satisfies Node]),
    ];
  }

  async #registers(at: Stopped, first: number, count: number): Promise<{ total: number; nodes: Node[] }> {
    const { total, registers } = readRegisters(await this.#ask('msvm/registers', at, { first, count }));
    return { total, nodes: registers.map((register) => ({ type: 'register', row: registerRow(register), at })) };
  }

  /** A thread that has gone on meanwhile, or that runs no bytecode, has nothing to show. */
  #ask(command: string, at: Stopped, args: object = {}): Promise<unknown> {
    return this.#sessions.request(command, { threadId: at.threadId, ...args }, at.session).catch(() => undefined);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** "X = R3"; of an operand that isn't there "B". */
const operandName = (operand: string, reg: string) => [operand, reg].filter((part) => part !== '').join(' = ');

function callNode(call: Call, at: Stopped): Node {
  const operands = (list: Call['inputs']) => list.map(({ operand, value }): Node => ({ type: 'register', row: registerRow(value, operandName(operand, value.reg)), at }));
  const fields = (label: string, icon: string, values: readonly string[]): Node[] =>
    values.length === 0 || values.every((value) => value === '') ? [] : [{ type: 'field', icon, field: { label, value: values.join(', ') } }];
  return {
    type: 'group',
    label: callLabel(call),
    icon: 'symbol-method',
    open: true,
    children: [
      ...operands(call.inputs),
      ...fields('sizes', 'symbol-ruler', call.arguments),
      ...fields('attributes', 'symbol-property', [call.attributes === '{}' ? '' : call.attributes]),
      {
        type: 'group',
        label: 'Kernels',
        value: call.note === '' ? call.candidates.find(({ chosen }) => chosen)?.kernel : call.note,
        icon: 'dashboard',
        open: true,
        children: call.candidates.map(candidateField).map((field): Node => ({ type: 'field', field, icon: field.chosen ? 'pass-filled' : 'circle-outline', chosen: field.chosen })),
      },
      ...fields('from', 'link', call.origins),
    ],
  };
}

interface Look {
  readonly state?: vscode.TreeItemCollapsibleState;
  readonly icon?: string | undefined;
  readonly value?: string | undefined;
  readonly id?: string;
}

function item(label: string, { state = None, icon, value, id }: Look): vscode.TreeItem {
  const made = new vscode.TreeItem(label, state);
  if (icon !== undefined) made.iconPath = new vscode.ThemeIcon(icon);
  if (value !== undefined) made.description = value;
  if (id !== undefined) made.id = id;
  return made;
}

function registerItem(row: RegisterRow): vscode.TreeItem {
  const made = item(row.label, { state: row.fields.length > 0 ? Collapsed : None, value: row.value });
  const dim = row.kind === 'unset' ? new vscode.ThemeColor('disabledForeground') : undefined;
  made.iconPath = new vscode.ThemeIcon(ICONS[row.kind], row.changed ? new vscode.ThemeColor('msvm.changed') : dim);
  made.tooltip = row.tooltip;
  made.contextValue = row.readable ? 'tensor' : row.kind;
  made.resourceUri = vscode.Uri.from({ scheme: CHANGED, path: `/${row.register}`, query: row.changed ? 'changed' : row.kind });
  return made;
}

function fieldItem({ label, value, hint, fields }: Field, icon: string | undefined, chosen: boolean): vscode.TreeItem {
  const made = item(label, { state: fields === undefined || fields.length === 0 ? None : Collapsed, value, icon });
  if (chosen) made.iconPath = new vscode.ThemeIcon(icon ?? 'pass-filled', new vscode.ThemeColor('charts.green'));
  made.tooltip = hint === undefined ? `${label}: ${value}` : `${label}: ${value}\n${hint}`;
  made.contextValue = 'field';
  return made;
}
