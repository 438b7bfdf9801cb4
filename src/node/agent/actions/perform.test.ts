import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import type { ActionContext, Subject } from './context.ts';
import { perform } from './perform.ts';

test('the log of a container is removed with it, and those of others stay', async () => {
  const folder = temporaryDirectory();
  for (const name of ['0.log', '0.log.20300101-000000.000.gz', '1.log']) await writeFile(join(folder, name), '');
  const removed: string[] = [];
  const runtime = {
    container: async (id: string) => ({ id, logPath: join(folder, '0.log') }),
    removeContainer: async (id: string) => void removed.push(id),
  };
  const subject = { pod: { metadata: { name: 'p' } }, emit: () => {} } as unknown as Subject;
  const action = { type: 'remove-container', container: 'app', position: 0, id: 'c1' } as const;
  const { signal } = new AbortController();
  const outcome = await perform({ runtime } as unknown as ActionContext, subject, { action, signal });
  expect(outcome).toEqual({ type: 'done' });
  expect(removed).toEqual(['c1']);
  expect(await readdir(folder)).toEqual(['1.log']);
});
