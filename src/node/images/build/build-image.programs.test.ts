import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { PAUSE_IMAGE, writePauseImage } from '../pause/pause-image.ts';
import { buildImage, type ImageSpec } from './build-image.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
const SPEC: ImageSpec = {
  name: 'team/app:1',
  architecture: 'x64',
  files: [
    { type: 'bytes', path: '/etc/deep/file', bytes: Buffer.from('hello') },
    { type: 'link', path: 'bin/link', target: '/etc/deep/file' },
    { type: 'directory', path: '/tmp/', mode: 0o1777 },
  ],
  config: { entrypoint: ['/bin/app'], args: ['-v'], env: ['A=b'], user: '7', volumes: ['/data'] },
};

const hasSkopeo = spawnSync('skopeo', ['--version']).status === 0;

test('a name is completed', async () => {
  const built = await buildImage(SPEC, join(directory, 'x.tar'));
  expect(built.name).toBe('docker.io/team/app:1');
});

/** skopeo is a program of others that reads archives. */
test.skipIf(!hasSkopeo).each([false, true])('skopeo reads an archive with compress: %s', async (compress) => {
  const archive = join(directory, 'x.tar');
  const built = await buildImage({ ...SPEC, compress }, archive);
  const inspect = (source: string, ...flags: string[]) =>
    JSON.parse(execFileSync('skopeo', ['inspect', ...flags, source]).toString());
  expect(inspect(`oci-archive:${archive}`)).toMatchObject({
    Digest: built.digest,
    Architecture: 'amd64',
    Os: 'linux',
    Env: ['A=b'],
  });
  expect(inspect(`docker-archive:${archive}`, '--config').config).toEqual({
    User: '7',
    Env: ['A=b'],
    Entrypoint: ['/bin/app'],
    Cmd: ['-v'],
    Volumes: { '/data': {} },
  });
});

test('equal files give equal archives', async () => {
  const [a, b] = [join(directory, 'a.tar'), join(directory, 'b.tar')];
  await buildImage(SPEC, a);
  await buildImage(SPEC, b);
  expect(readFileSync(a).equals(readFileSync(b))).toBe(true);
});

test('the pause image is tiny', async () => {
  const archive = join(directory, 'pause.tar');
  expect(await writePauseImage(archive, 'arm64')).toMatchObject({ name: PAUSE_IMAGE });
  expect(statSync(archive).size).toBeLessThan(20_000);
});
