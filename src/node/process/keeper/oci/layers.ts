/** Where the writes of containers go: a directory on disk or, above the files of the node, in memory. */

import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { removeTree } from '../../../../base/files/inside/remove-tree.ts';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import { runProgram } from '../../../../base/programs/run-program.ts';
import type { Mount } from '../../../runtime/container-config.ts';
import { parseMountInfo } from '../../oci/mount-flags.ts';
import type { Programs } from '../machine.ts';

/** Directories that a container with the files of the node has for itself. */
const OWN_DIRECTORIES = /^\/(?:$|(?:dev|proc|root|run|sys|tmp|var\/run)(?:\/|$))/;

export class Layers {
  private constructor(
    /** A mount of its own, so that it can be private where the mounts around it are shared. */
    readonly memory: string,
    private readonly programs: Programs,
  ) {}

  /** The directory is for layers in memory, of all containers of the runtime: a layer cannot be inside of what it is above. */
  static async open(memory: string, programs: Programs): Promise<Layers> {
    makeDirectoriesSync(memory, 0o700);
    if (!isMounted(memory)) await runProgram([programs.mount!, '-t', 'tmpfs', '-o', 'mode=0700', 'layers', memory]);
    return new Layers(memory, programs);
  }

  /** Makes the layer of a container with an image, in its own directory. */
  onDisk(directory: string, owner: number): string {
    const layer = join(directory, 'layer');
    make(layer, owner);
    // The supervisor works in the directory: its path may have characters that options of mounts cannot.
    return 'layer';
  }

  /** Makes that of a container with the files of the node. In its user namespace, only root of the node could make mount points. */
  inMemory(id: string, owner: number, mounts: readonly Mount[]): string {
    const layer = join(this.memory, id);
    make(layer, owner);
    if (owner !== 0) for (const parent of parentsOf(mounts)) makeParents(join(layer, 'upper'), parent, owner);
    return layer;
  }

  /** Where the root of a container can be mounted so that no other mount namespace sees it. */
  rootOf(id: string): string {
    return join(this.memory, id, 'root');
  }

  async remove(id: string): Promise<void> {
    await removeTree(join(this.memory, id));
  }

  async removeAll(): Promise<void> {
    if (isMounted(this.memory)) await runProgram([this.programs.umount!, '--lazy', this.memory]);
  }
}

function make(layer: string, owner: number): void {
  for (const name of ['upper', 'work']) makeDirectoriesSync(join(layer, name), 0o755);
  chownSync(join(layer, 'upper'), owner, owner);
}

/** Nobody else has seen the layer yet. */
function makeParents(upper: string, path: string, owner: number): void {
  let made = upper;
  for (const part of path.split('/').filter((each) => each !== '')) {
    made = join(made, part);
    if (existsSync(made) && lstatSync(made).isDirectory()) continue;
    mkdirSync(made, { mode: 0o755 });
    chownSync(made, owner, owner);
  }
}

function parentsOf(mounts: readonly Mount[]): string[] {
  const parents = mounts.map(({ containerPath }) => posix.dirname(posix.normalize(containerPath)));
  return [...new Set(parents)].filter((path) => !OWN_DIRECTORIES.test(path));
}

function isMounted(path: string): boolean {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')).some(({ point }) => point === path);
}
