// Commands that show what a program is: SCD analysis, machine code of an entry; and one that changes the capability database.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { readDisassembly, readState, type Program } from '../../../web/src/api/schema.ts';
import { activeFile } from '../debug/active_file.ts';
import { Mend, sentence } from '../msvm/model/mend.ts';
import type { Feature, Services } from '../services.ts';
import { Documents, REPORTS } from './documents.ts';
import { machineCode } from './model/machine_code.ts';
import { text } from './model/markdown.ts';
import { ofFile, ofPrograms, readDeclared, readFileScd, type FileScd } from './model/scd.ts';

/** Given by a CodeLens: only these programs. */
interface Which {
  readonly programs?: readonly number[];
}

const MODULES = /\.(msbc|msasm|onnx)$/i;

async function programs({ sessions }: Services, which: Which = {}): Promise<readonly Program[]> {
  const state = readState(await sessions.request('msvm/jitInfo'));
  return state.programs.filter(({ id }) => which.programs?.includes(id) !== false);
}

async function moduleFile(): Promise<string | undefined> {
  const file = activeFile();
  if (file !== undefined && MODULES.test(file)) return file;
  const chosen = await vscode.window.showOpenDialog({ title: 'MSVM: SCD analysis of a program', filters: { Programs: ['msbc', 'msasm', 'onnx'] } });
  return chosen?.[0]?.fsPath;
}

/** The analysis of the file that a session runs: undefined where it is no module, or an optimised one, whose instructions are others. */
async function asWritten({ msvm }: Services, { configuration }: vscode.DebugSession): Promise<FileScd | undefined> {
  const { program, optimize } = configuration as { program?: unknown; optimize?: unknown };
  if (typeof program !== 'string' || !/\.(msbc|msasm)$/i.test(program) || optimize === true) return undefined;
  return msvm.json(['scd', program, '--json', '--all']).then(readFileScd, () => undefined); // the session's own figures stand without it
}

/** Places in files of the workspace, as its paths are. */
const short = (report: string): string =>
  (vscode.workspace.workspaceFolders ?? [])
    .flatMap(({ uri }) => [`${uri.fsPath}/`, text(`${uri.fsPath}/`)])
    .reduce((shorter, folder) => shorter.replaceAll(folder, ''), report);

async function showScd(services: Services, documents: Documents, which?: Which): Promise<void> {
  const { sessions, msvm } = services;
  let report: string;
  if (sessions.current === undefined) {
    const file = await moduleFile();
    if (file === undefined) return;
    report = ofFile(readFileScd(await msvm.json(['scd', file, '--json', '--all'])));
  } else {
    const written = which === undefined ? await asWritten(services, sessions.current) : undefined;
    report = ofPrograms(await programs(services, which), readDeclared(await sessions.request('msvm/scd')), written);
  }
  const uri = documents.put('SCD analysis.md', short(report));
  await vscode.commands.executeCommand('markdown.showPreview', uri);
}

interface Item extends vscode.QuickPickItem {
  readonly program: number;
  readonly function: number;
  readonly region: number;
  readonly entry: string;
}

function entries(programs: readonly Program[]): readonly Item[] {
  return programs.flatMap(({ id, name, regions }) =>
    regions.flatMap((region) =>
      region.entries
        .filter(({ code_bytes }) => code_bytes > 0)
        .map((entry) => ({
          label: entry.alias || entry.name,
          description: `${name}, ${region.name}`,
          detail: `tier ${entry.tier}, ${entry.hits} hits, ${entry.code_bytes} bytes, ${entry.box}`,
          program: id,
          function: region.function,
          region: region.region,
          entry: entry.name,
        })),
    ),
  );
}

async function disassemble(services: Services, documents: Documents, which?: Which): Promise<void> {
  if (services.sessions.current === undefined) throw new Mend('No MSVM session is running', 'Start one: machine code is looked at where it runs. `msvm jit-info PROGRAM --asm` shows that of a file');
  const items = entries(await programs(services, which));
  if (items.length === 0) throw new Mend('There is no native code yet', 'It comes after some runs with the same sizes; MSVM: Show SCD Analysis says what is missing');
  const picked = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: 'MSVM: Disassemble JIT Entry', matchOnDescription: true, matchOnDetail: true });
  if (picked === undefined) return;
  const { label, program, function: of, region, entry } = picked;
  const code = readDisassembly(await services.sessions.request('msvm/disassembly', { program, function: of, region, entry }));
  const document = await vscode.workspace.openTextDocument(documents.put(`${label}.asm`, short(machineCode(label, code))));
  await vscode.window.showTextDocument(document, { preview: false });
}

async function loadPatch({ sessions }: Services, uri?: vscode.Uri): Promise<void> {
  if (sessions.current === undefined) throw new Mend('No MSVM session is running', 'Start one: a patch is loaded into a program that runs');
  const chosen = uri ?? (await vscode.window.showOpenDialog({ title: 'MSVM: Load Capability Patch', filters: { 'Capability patch': ['json'] } }))?.[0];
  if (chosen === undefined) return;
  await sessions.request('msvm/loadCapabilityPatch', { path: chosen.fsPath });
  void vscode.window.showInformationMessage(`The capability patch ${basename(chosen.fsPath)} is loaded.`);
}

export const reports: Feature = (services) => {
  const documents = new Documents();
  const command = (name: string, run: (argument?: never) => Promise<void>) =>
    vscode.commands.registerCommand(name, (argument?: unknown) => run(argument as never).catch((error: unknown) => void vscode.window.showErrorMessage(sentence(error))));
  services.context.subscriptions.push(
    documents,
    vscode.workspace.registerTextDocumentContentProvider(REPORTS, documents),
    command('msvm.showScd', (which?: Which) => showScd(services, documents, which)),
    command('msvm.disassembleEntry', (which?: Which) => disassemble(services, documents, which)),
    command('msvm.loadCapabilityPatch', (uri?: vscode.Uri) => loadPatch(services, uri)),
  );
};
