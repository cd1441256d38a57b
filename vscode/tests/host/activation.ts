import assert from 'node:assert/strict';
import * as vscode from 'vscode';

export const activation = () =>
  suite('activation', () => {
    test('the extension is found and activates', async () => {
      const extension = vscode.extensions.getExtension('msvm.msvm');
      assert.ok(extension);
      await extension.activate();
      assert.ok(extension.isActive);
    });
  });
