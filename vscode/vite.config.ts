import { defineConfig } from 'vitest/config';

const whole = { testTimeout: 480_000, hookTimeout: 240_000, fileParallelism: false };

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['tests/unit/**/*.test.ts'] } },
      { test: { name: 'host', include: ['tests/host.test.ts'], ...whole } },
      { test: { name: 'workbench', include: ['tests/workbench/debugging.test.ts', 'tests/workbench/editors.test.ts'], ...whole } },
      { test: { name: 'workbench-slow', include: ['tests/workbench/faults.test.ts', 'tests/workbench/sessions.test.ts'], ...whole } },
    ],
  },
});
