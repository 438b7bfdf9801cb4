import { expect, it } from 'vitest';
import { repeatableSteps } from './repeatable-steps.ts';

it('the error of a step says that the command can be run again: earlier steps have changed something', async () => {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const steps = repeatableSteps({ write });
  expect(await steps.run('account', async () => 5)).toBe(5);
  const failing = steps.run('credentials', () => Promise.reject(new Error('it does not answer')));
  await expect(failing).rejects.toThrow('it does not answer; run the command again to continue');
  expect(text).toMatch(/^account .*\ncredentials +failed\n$/);
});
