import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeImage } from '../../../store/memory/image-file.ts';
import { readRestore } from './restore.ts';

const directory = mkdtempSync(join(tmpdir(), 'restore-'));
const restore = join(directory, 'saved');
afterAll(() => rmSync(directory, { recursive: true }));

const save = (secret: string) =>
  writeImage(restore, {
    image: {
      revision: 1,
      rows: [{ key: '/registry/core/secrets/default/a', revision: 1, value: Buffer.from(secret) }],
    },
    about: {},
  });

it('leaves out tokens, which are of another cluster', async () => {
  await save(JSON.stringify({ type: 'kubernetes.io/service-account-token' }));
  expect(await readRestore({ restore })).toEqual({ revision: 1, rows: [] });
  await save(JSON.stringify({ type: 'Opaque' }));
  expect((await readRestore({ restore }))?.rows).toHaveLength(1);
});

it('rejects a file with a damaged Secret before anything is created', async () => {
  await save('nonsense');
  await expect(readRestore({ restore })).rejects.toThrow(
    `--restore ${restore} cannot be used: /registry/core/secrets/default/a is damaged`,
  );
});
