/** Links in paths that a pod controls: nothing is made or mounted outside of its own root. */
import { readdirSync, readFileSync } from 'node:fs';
import { realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SandboxConfig } from '../../../src/node/runtime/sandbox-config.ts';
import { loadAttacker } from '../attacker-image.ts';
import { hostUsers, type Lab, promised, scratchOfNode, tryToRun, volume } from '../lab.ts';

/** Ways to write a path of the node in a link. */
const WAYS: Readonly<Record<string, (path: string) => string>> = {
  absolute: (path) => path,
  'above the root': (path) => `/../../../../../../../..${path}`,
  relative: (path) => `../../../../../../../../..${path}`,
  'working directory': (path) => `/proc/self/cwd${path}`,
};

let count = 0;

/** What the runtime trusts. */
const TRUSTED = ['/', '/dev', '/proc', '/dev/null', '/dev/pts'];
const OTHER = '/tmp';
/** Links at the root of an image, by where they lead. */
const COVERING = new Map([...TRUSTED, OTHER].map((target, index) => [target, `/link-${index}`]));

const loadCovering = (lab: Lab) =>
  loadAttacker(lab.world(), 'covering', {
    files: [...COVERING].map(([target, path]) => ({ type: 'link', path, target }) as const),
  });

interface Covering {
  readonly target: string;
  readonly image: Awaited<ReturnType<typeof loadCovering>>;
  readonly sandbox?: SandboxConfig;
}

/** Mounts a volume through a link in the image, and through one in another volume. */
async function mountedOver(lab: Lab, { target, image, sandbox }: Covering): Promise<(string | Error)[]> {
  const [folder, outer] = [await lab.world().folder(`covering-${++count}`), await lab.world().folder(`outer-${count}`)];
  // The runtime opens the /dev/null of the container, masks files of the kernel with it, and looks for paths of mounts again.
  await writeFile(join(folder, 'null'), '');
  await symlink('.', join(folder, 'link'));
  await symlink(target, join(outer, 'link'));
  const source = target === '/dev/null' ? join(folder, 'null') : folder;
  const ways = [[volume(source, COVERING.get(target)!)], [volume(outer, '/data'), volume(source, '/data/link')]];
  const command = ['/bin/sh', '-c', 'echo started'];
  const found = await Promise.all(ways.map((mounts) => tryToRun(lab, { ...image, command, mounts }, sandbox)));
  expect(readFileSync(join(folder, 'null'), 'utf8')).toBe('');
  return found;
}

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

  // Loaded by the first test that needs it.
  let covering: ReturnType<typeof loadCovering> | undefined;
  const coveringImage = () => {
    covering ??= loadCovering(lab);
    return covering;
  };

  for (const target of TRUSTED) {
    promised(lab, 'containers')(`lead no volume over what the runtime trusts: ${target}`, async () => {
      const image = await coveringImage();
      const own = await mountedOver(lab, { target, image });
      const ofNode = await mountedOver(lab, { target, image, sandbox: hostUsers(lab) });
      for (const outcome of [...own, ...ofNode]) expect(outcome).toBeInstanceOf(Error);
    });
  }

  promised(lab, 'containers')('lead volumes to other directories of the container', async () => {
    const outcomes = await mountedOver(lab, { target: OTHER, image: await coveringImage() });
    for (const outcome of outcomes) expect(outcome).toContain('started');
  });

  for (const path of ['/dev', '/proc', '/sys', '/etc']) {
    promised(
      lab,
      'containers',
      'devices by the node',
    )(`in place of a directory that the runtime makes lead nowhere: ${path}`, async () => {
      const scratch = scratchOfNode();
      const files = [{ type: 'link', path, target: scratch } as const];
      const image = await loadAttacker(lab.world(), `linked-${++count}`, { files });
      const sandboxes = [lab.world().sandbox(), hostUsers(lab)];
      await Promise.all(sandboxes.map((each) => tryToRun(lab, { ...image, command: ['/bin/true'] }, each)));
      expect(readdirSync(scratch)).toEqual([]);
    });
  }

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
