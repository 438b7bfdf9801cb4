/** The pause image, made on this machine. */
import { type BuiltImage, buildImage } from '../build/build-image.ts';
import { pauseProgram } from './pause-program.ts';

/** Name of the image. Its tag changes whenever the program does. */
export const PAUSE_IMAGE = 'quarterdeck.local/pause:1';

/** An id that no user of the node has; the program needs no rights. */
const PAUSE_USER = '65535:65535';

/** Writes it as an archive that `Images.load` takes. `architecture` is Node's name of the node's architecture. */
export function writePauseImage(archive: string, architecture: string): Promise<BuiltImage> {
  return buildImage(
    {
      name: PAUSE_IMAGE,
      architecture,
      files: [{ type: 'bytes', path: '/pause', mode: 0o755, bytes: pauseProgram(architecture) }],
      config: { entrypoint: ['/pause'], user: PAUSE_USER, workingDirectory: '/' },
    },
    archive,
  );
}
