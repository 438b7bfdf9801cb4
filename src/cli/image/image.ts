/** `qd image load`, `ls` and `rm`. */
import { stat } from 'node:fs/promises';
import { fileProblem } from '../../base/files/file-problem.ts';
import { RuntimeError } from '../../node/runtime/errors.ts';
import type { Images } from '../../node/runtime/runtime.ts';
import type { ClusterFlags } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { print } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withNodeImages } from './node-images.ts';

const SHORT_ID = 'sha256:'.length + 12;
const MEGABYTE = 1e6;

export async function loadImages(files: readonly string[], flags: ClusterFlags): Promise<void> {
  for (const file of files) {
    const about = await stat(file).catch((cause: unknown) => {
      throw new CliError(`${file} cannot be read: ${fileProblem(cause)}`, { cause });
    });
    if (!about.isFile()) throw new CliError(`${file} is not a file`);
  }
  await withNodeImages(flags, async (nodes) => {
    for (const file of files) {
      for (const { node, images } of nodes) {
        const names = await explained(file, images.load(file));
        for (const name of names) print(`${node}: loaded ${name}`);
      }
    }
  });
}

export async function listImages(flags: ClusterFlags): Promise<void> {
  await withNodeImages(flags, async (nodes) => {
    const rows = [['NODE', 'IMAGE', 'ID', 'SIZE']];
    for (const { node, images } of nodes) {
      for (const { id, tags, digests, bytes } of await images.list()) {
        const names = tags.length > 0 ? tags : digests.slice(0, 1);
        for (const name of names.length > 0 ? names : ['<none>']) {
          rows.push([node, name, id.slice(0, SHORT_ID), `${(bytes / MEGABYTE).toFixed(1)} MB`]);
        }
      }
    }
    print(...table(rows));
  });
}

export async function removeImages(names: readonly string[], flags: ClusterFlags): Promise<void> {
  await withNodeImages(flags, async (nodes) => {
    for (const name of names) {
      let isFound = false;
      for (const { node, images } of nodes) {
        const image = await explained(name, find(images, name));
        if (!image) continue;
        isFound = true;
        await explained(name, images.remove(image.id));
        print(`${node}: removed ${image.tags[0] ?? image.id}`);
      }
      if (!isFound) throw new CliError(`no node has the image ${name}; qd image ls shows those that they have`);
    }
  });
}

/** Also by the short form of the ID that `ls` shows. */
async function find(images: Images, name: string) {
  if (!name.startsWith('sha256:')) return images.find(name);
  return (await images.list()).find(({ id }) => id.startsWith(name));
}

async function explained<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isExpected = error instanceof RuntimeError || (error as Error).name === 'TarError';
    throw isExpected ? new CliError(`${what}: ${(error as Error).message}`, { cause: error }) : error;
  }
}
