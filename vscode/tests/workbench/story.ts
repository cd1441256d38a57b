// A story: tests that build on each other. Where one fails, those behind it are skipped, and the workbench is cleared for the next story all the same.
import { afterAll, describe, test } from 'vitest';
import type { Workbench } from './workbench.ts';

/** What happens, the name of its picture, and the steps that show it. */
export type Step = (title: string, picture: string, look: () => Promise<void>) => void;

export function story(title: string, code: () => Workbench, steps: (step: Step) => void): void {
  describe(title, () => {
    let failed = false;
    steps((what, picture, look) =>
      test(what, async ({ skip }) => {
        if (failed) skip('a step before it has failed');
        failed = true;
        await code().seen(picture, look);
        failed = false;
      }),
    );
    afterAll(() => code().clear());
  });
}
