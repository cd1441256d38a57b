// Puts script and style into the page, and says which Content-Security-Policy lets exactly these two run.
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

/** The value of the header `Content-Security-Policy` for a page with this script and this style. */
export function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${sha256(script)}`,
    `style-src ${sha256(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** A text within <script> or <style> ends at the first closing tag: none may be in it. */
const closed = (text: string): string => text.trim().replaceAll('</script', '<\\/script').replaceAll('</style', '<\\/style');

export function singleFile(): Plugin {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      let script = '';
      let style = '';
      for (const [name, file] of Object.entries(bundle)) {
        if (name.endsWith('.html')) continue;
        if (file.type === 'chunk') script += file.code;
        else if (name.endsWith('.css')) style += typeof file.source === 'string' ? file.source : new TextDecoder().decode(file.source);
        else this.error(`${name} can't be part of one file: only scripts and styles can`);
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the bundle is the plugin's table of outputs
        delete bundle[name];
      }
      script = closed(script);
      style = closed(style);
      const page = bundle['index.html'];
      if (page?.type !== 'asset') return this.error('there is no index.html among the outputs');
      const html = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, '')
        .replace(/\s*<link rel="stylesheet"[^>]*>/, '')
        .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
        .replace('</body>', () => `  <script type="module">${script}</script>\n  </body>`);
      page.source = html;
      this.emitFile({ type: 'asset', fileName: 'csp.txt', source: policy(script, style) });
    },
  };
}
