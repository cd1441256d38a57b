import { defineConfig } from 'vitest/config';
import { singleFile } from './single_file.ts';

export default defineConfig({
  plugins: [singleFile()],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: { target: 'es2022', cssTarget: ['chrome123', 'firefox120', 'safari17.5'], cssCodeSplit: false, modulePreload: false, assetsInlineLimit: 0 },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['tests/unit/**/*.test.{ts,tsx}'] } },
      { extends: true, test: { name: 'e2e', include: ['tests/e2e/**/*.test.ts'], testTimeout: 180_000, hookTimeout: 120_000, fileParallelism: false } },
    ],
  },
});
