import { expect, test } from 'vitest';
import { createSteps } from './steps.ts';

function screen(isTTY: boolean) {
  let text = '';
  let time = 0;
  const write = (more: string) => {
    text += more;
  };
  const steps = createSteps({ write, isTTY }, () => {
    time += 7;
    return time;
  });
  return { steps, text: () => text };
}

test('without a terminal, each step is one plain line', async () => {
  const { steps, text } = screen(false);
  const found = await steps.run('store', async (say) => {
    say('looking');
    say('embedded, revision 3');
    return 42;
  });
  steps.line('Ready');
  expect(found).toBe(42);
  expect(text()).toBe('store          embedded, revision 3 (7 ms)\nReady\n');
});

test('a step is one line, whatever it says', async () => {
  for (const isTTY of [false, true]) {
    const { steps, text } = screen(isTTY);
    await steps.run('account', async (say) => say('left in west: \x1b[2J<html>\n<body>'));
    expect(text()).toContain('left in west:  [2J<html> <body>');
    expect(text().trim()).not.toContain('\n');
  }
});

test('on a terminal, a step is announced and its line rewritten', async () => {
  const { steps, text } = screen(true);
  await steps.run('store', async (say) => say('embedded'));
  expect(text()).toContain('… store');
  expect(text()).toMatch(/\r.*✓.* store +embedded .*7 ms/);
});

test('on a terminal, a step shows how far it is', async () => {
  const { steps, text } = screen(true);
  await steps.run('waiting', async (say) => {
    say(`the pod is pending: ${'x'.repeat(200)}`);
    expect(text()).toMatch(/… waiting +the pod is pending: x{20,60}\S*$/);
  });
});

test.each([true, false])('a step that fails is shown as failed, and its error is passed on', async (isTTY) => {
  const { steps, text } = screen(isTTY);
  await expect(steps.run('store', () => Promise.reject(new Error('locked')))).rejects.toThrow('locked');
  expect(text()).toMatch(/store +failed\n$|✗.* store\n$/);
});
