/** `qd image build`: an image of Quarterdeck itself. */
import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildImage } from '../../node/images/build/build-image.ts';
import { directoryOf } from '../clusters/choice.ts';
import { CliError } from '../output/cli-error.ts';
import { version } from '../process/version.ts';
import { checkNewFile } from '../process/writable.ts';
import type { BuildFlags } from './flags.ts';
import { loadImages } from './image.ts';
import { NODE_PATH, ownFiles, PROGRAM_PATH } from './own-files.ts';

export async function buildOwnImage(flags: BuildFlags): Promise<void> {
  const { output, image = `quarterdeck:${version}` } = flags;
  if (output !== undefined) await checkNewFile('--output', output);
  else await directoryOf(flags);
  const packageFolder = await ownPackageFolder();
  const scratch = await mkdtemp(join(output === undefined ? tmpdir() : dirname(output), '.qd-image-'));
  try {
    const archive = join(scratch, 'quarterdeck.tar');
    const built = await buildImage(
      {
        name: image,
        architecture: process.arch,
        files: await ownFiles({ node: process.execPath, packageFolder }),
        config: {
          entrypoint: [NODE_PATH, join(PROGRAM_PATH, 'dist/qd.js')],
          args: ['up'],
          env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/root'],
          workingDirectory: '/root',
        },
        compress: true,
      },
      archive,
    );
    if (output === undefined) return await loadImages([archive], flags);
    await rename(archive, output);
    const { size } = await stat(output);
    process.stdout.write(`${output}: ${built.name}, ${size} bytes\n`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The folder of the package whose program runs. */
async function ownPackageFolder(): Promise<string> {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const isBuilt = await stat(join(folder, 'dist', 'qd.js')).catch(() => undefined);
    if (isBuilt && (await stat(join(folder, 'package.json')).catch(() => undefined))) return folder;
    if (folder === dirname(folder)) throw new CliError('qd image build needs the built program: run npm run build');
  }
}
