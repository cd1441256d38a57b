// The page of a webview: one script and its style, nothing else may run or load.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

const attribute = (text: string): string => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);

export interface PageParts {
  readonly title: string;
  /** Within dist/. */
  readonly script: string;
  readonly style?: string;
  readonly module?: boolean;
  readonly body?: string;
}

export function pageOptions(extension: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, 'dist')] };
}

export function page(webview: vscode.Webview, extension: vscode.Uri, parts: PageParts): string {
  const nonce = randomBytes(18).toString('base64');
  const at = (path: string): string => attribute(webview.asWebviewUri(vscode.Uri.joinPath(extension, 'dist', path)).toString());
  const policy = [`default-src 'none'`, `script-src 'nonce-${nonce}'`, `style-src ${webview.cspSource}`, `font-src ${webview.cspSource}`, `img-src ${webview.cspSource} data:`].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${attribute(parts.title)}</title>
${parts.style === undefined ? '' : `<link rel="stylesheet" href="${at(parts.style)}">`}
</head>
<body>${parts.body ?? ''}<script${parts.module === true ? ' type="module"' : ''} nonce="${nonce}" src="${at(parts.script)}"></script></body>
</html>`;
}
