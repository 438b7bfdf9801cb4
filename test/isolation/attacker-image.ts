/** The image of the attackers: busybox, and perl for the system calls that no command of it makes. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildImage, type ImageFile } from '../../src/node/images/build/build-image.ts';
import type { ImageConfig } from '../../src/node/images/image-config.ts';
import { BUSYBOX, type World } from '../runtimes/world.ts';

const PERL = '/usr/bin/perl';
export const SETUID_PERL = '/usr/bin/setuid-perl';

/** Returns what is missing on this machine, in words. */
export function whyNoAttackers(): string | undefined {
  const absent = [BUSYBOX, PERL].filter((path) => !existsSync(path));
  return absent.length > 0 ? `${absent.join(' and ')} not installed` : undefined;
}

interface HostileImage {
  readonly files?: readonly ImageFile[];
  readonly config?: Partial<ImageConfig>;
  /** Whether it has perl. Default: false. */
  readonly withPerl?: boolean;
}

/** Loads the image, with further files that replace its own. */
export async function loadAttacker(
  world: World,
  name: string,
  { files = [], config = {}, withPerl = false }: HostileImage = {},
) {
  const archive = world.path(`${name}.tar`);
  const image = `docker.io/library/${name}:1`;
  const own = new Set(files.map(({ path }) => path));
  await buildImage(
    {
      name: image,
      architecture: process.arch,
      files: [...files, ...[...ownFiles(), ...(withPerl ? perlFiles() : [])].filter(({ path }) => !own.has(path))],
      config: { env: ['PATH=/bin:/usr/bin'], ...config },
    },
    archive,
  );
  await world.runtime.images.load(archive);
  return { image, imageId: (await world.runtime.images.find(image))?.id ?? '' };
}

function ownFiles(): ImageFile[] {
  const applets = execFileSync(BUSYBOX, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  return [
    { type: 'copy', path: '/bin/busybox', source: BUSYBOX, mode: 0o755 },
    ...applets
      .filter((applet) => applet !== 'busybox')
      .map((applet) => ({ type: 'link', path: join('/bin', applet), target: 'busybox' }) as const),
    { type: 'bytes', path: '/etc/passwd', bytes: Buffer.from('root:x:0:0::/:/bin/sh\nuser:x:1234:1234::/:/bin/sh\n') },
    { type: 'bytes', path: '/etc/group', bytes: Buffer.from('root:x:0:\nuser:x:1234:\n') },
    { type: 'directory', path: '/tmp', mode: 0o1777 },
    { type: 'directory', path: '/m' },
  ];
}

/** Once for everybody, and once as a setuid program. */
function perlFiles(): ImageFile[] {
  const libraries = [...execFileSync('ldd', [PERL], { encoding: 'utf8' }).matchAll(/(?:=>\s+|^\s*)(\/\S+)\s+\(0x/gm)];
  return [
    { type: 'copy', path: PERL, source: PERL, mode: 0o755 },
    { type: 'copy', path: SETUID_PERL, source: PERL, mode: 0o4755 },
    ...libraries.map(([, path = '']) => ({ type: 'copy', path, source: path }) as const),
  ];
}
