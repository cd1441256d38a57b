// Bundles: the extension, the scripts of its webviews, and (--tests) the suite that runs inside the extension host.
import { build } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';

const tests = process.argv.includes('--tests');
const common = { bundle: true, minify: !tests, sourcemap: tests, legalComments: 'none', logLevel: 'warning', target: 'es2022' };

if (tests) {
  await build({
    ...common,
    entryPoints: ['tests/host/index.ts'],
    outfile: 'dist/tests/host.js',
    platform: 'node',
    format: 'cjs',
    external: ['vscode', 'mocha'],
  });
} else {
  rmSync('dist/webview', { recursive: true, force: true });
  await build({ ...common, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js', platform: 'node', format: 'cjs', external: ['vscode'] });
  // One script and style a webview: src/webview/NAME.ts → dist/webview/NAME.js.
  const views = readdirSync('src/webview').filter((name) => /\.(ts|tsx|css)$/.test(name));
  await build({ ...common, entryPoints: views.map((name) => `src/webview/${name}`), outdir: 'dist/webview', platform: 'browser', format: 'iife' });
  // JIT Monitor is the front end of ../web, with messages instead of HTTP.
  await build({ ...common, entryPoints: { monitor: '../web/src/editor.ts' }, outdir: 'dist/webview', platform: 'browser', format: 'iife', jsx: 'automatic', jsxImportSource: 'preact', target: 'chrome130' });
}
