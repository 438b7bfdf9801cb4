/** Links in paths that a pod controls: nothing is made or mounted outside of its own root. */
import { readdirSync } from 'node:fs';
import { realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { loadAttacker } from '../attacker-image.ts';
import { type Lab, promised, scratchOfNode, tryToRun, volume } from '../lab.ts';

/** Ways to write a path of the node in a link. */
const WAYS: Readonly<Record<string, (path: string) => string>> = {
  absolute: (path) => path,
  'above the root': (path) => `/../../../../../../../..${path}`,
  relative: (path) => `../../../../../../../../..${path}`,
  'working directory': (path) => `/proc/self/cwd${path}`,
};

let count = 0;

export function describeLinks(lab: Lab): void {
  for (const [way, linkTo] of Object.entries(WAYS)) {
    promised(lab, 'containers')(`in a volume are not followed out of it by mounts: ${way}`, async () => {
      const scratch = scratchOfNode();
      const [outer, inner] = [await lab.world().folder(`links-${++count}`), await lab.world().folder(`inner-${count}`)];
      await writeFile(join(inner, 'file'), 'of the volume');
      await symlink(linkTo(scratch), join(outer, 'sub'));
      await symlink(linkTo(join(scratch, 'made-file')), join(outer, 'file'));
      if (way === 'absolute') expect(await realpath(join(outer, 'sub'))).toBe(await realpath(scratch));
      const data = volume(outer, '/data');
      const tries = [
        { mounts: [data, volume(inner, '/data/sub/made-directory')] },
        { mounts: [data, volume(join(inner, 'file'), '/data/file')] },
        { mounts: [data], workingDirectory: '/data/sub/made-directory' },
      ];
      await Promise.all(tries.map((changes) => tryToRun(lab, { command: ['true'], ...changes })));
      expect(readdirSync(scratch)).toEqual([]);
    });
  }

  promised(lab, 'containers')('in an image are not followed out of it by mounts', async () => {
    const scratch = scratchOfNode();
    const files = Object.values(WAYS).flatMap((linkTo, i) => [
      { type: 'link', path: `/links/${i}`, target: linkTo(scratch) } as const,
    ]);
    const image = await loadAttacker(lab.world(), 'linked', {
      files: [...files, { type: 'link', path: '/etc/resolv.conf', target: WAYS.relative!(join(scratch, 'made-file')) }],
    });
    const inner = await lab.world().folder('inner');
    const tries = files.map(({ path }) => ({ mounts: [volume(inner, `${path}/made-directory`)] }));
    await Promise.all(tries.map((changes) => tryToRun(lab, { ...image, command: ['true'], ...changes })));
    expect(readdirSync(scratch)).toEqual([]);
  });

  promised(lab, 'containers')('to descriptors of the runtime are no way out as a working directory', async () => {
    const scratch = scratchOfNode();
    await writeFile(join(scratch, 'marker'), 'of the node');
    const script = `cat ../../../../../../../..${scratch}/marker; pwd -P; ls -d /proc/self/cwd/../../../../../../..${scratch}`;
    const descriptors = Array.from({ length: 8 }, (_, i) => i + 3);
    const outputs = descriptors.map(async (descriptor) => {
      const changes = { command: ['sh', '-c', script], workingDirectory: `/proc/self/fd/${descriptor}` };
      const found = await tryToRun(lab, changes);
      return found instanceof Error ? '' : found;
    });
    const seen = (await Promise.all(outputs)).join('\n');
    expect(seen).not.toContain(scratch);
    expect(seen).not.toContain('of the node');
  });

  promised(lab, 'containers')('in mount paths do not lead out of the root', async () => {
    const scratch = scratchOfNode();
    const inner = await lab.world().folder('inner');
    const before = [
      '/../../../..',
      '/tmp/../../../..',
      '/proc/self/cwd',
      '/proc/1/root',
      '/proc/self/fd/7/../../../..',
    ];
    const tries = before.map((prefix) => ({ mounts: [volume(inner, `${prefix}${scratch}/made`)] }));
    await Promise.all(tries.map((changes) => tryToRun(lab, { command: ['true'], ...changes })));
    expect(readdirSync(scratch)).toEqual([]);
  });
}
