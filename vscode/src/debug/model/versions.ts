// Do the extension and the program fit together?
import type { Versions } from './wire.ts';

/** Version of the requests and events of our own that this extension speaks. */
export const DAP = 1;

export interface Mismatch {
  readonly text: string;
  readonly mend: string;
}

const pair = (version: string): string => version.split('.').slice(0, 2).join('.');

export function mismatch(extension: string, found: Versions, msvm: string): Mismatch | undefined {
  const older = found.dap !== null && found.dap < DAP;
  if (found.dap !== DAP)
    return {
      text: `${msvm} speaks version ${found.dap ?? 'unknown'} of the debug protocol's additions, this extension version ${DAP}`,
      mend: older || found.dap === null ? 'Update it: pip install --upgrade msvm (in a clone: git pull && ./test)' : 'Update the extension: code --install-extension msvm.vsix (in a clone: tools/vscode.sh package)',
    };
  if (found.msvm !== '' && pair(found.msvm) !== pair(extension)) {
    return {
      text: `${msvm} is version ${found.msvm}, this extension ${extension}`,
      mend: 'Take both of one version: pip install --upgrade msvm, and code --install-extension msvm.vsix',
    };
  }
  return undefined;
}
