/** The command `qd image`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type ClusterFlags, clusterFlags } from '../flags/cluster.ts';
import { type BuildFlags, buildFlags } from './flags.ts';

export function imageCommand(): Command {
  const load = new Command('load')
    .description('Loads images from archives into the nodes of a cluster on this machine.')
    .argument('<file...>', 'an archive: an OCI layout or the output of docker save, as tar or tar.gz')
    .action(async (files: string[], flags: ClusterFlags) => (await import('./image.ts')).loadImages(files, flags));
  const ls = new Command('ls')
    .description('Shows the images of the nodes of a cluster on this machine.')
    .action(async (flags: ClusterFlags) => (await import('./image.ts')).listImages(flags));
  const rm = new Command('rm')
    .description('Removes images from the nodes of a cluster on this machine.')
    .argument('<image...>', 'name or ID of an image')
    .action(async (names: string[], flags: ClusterFlags) => (await import('./image.ts')).removeImages(names, flags));
  const build = new Command('build')
    .description('Makes an image of Quarterdeck, from the program and the Node that run this command, and loads it.')
    .action(async (flags: BuildFlags) => (await import('./build.ts')).buildOwnImage(flags));
  return new Command('image')
    .description('Loads, lists, removes and builds images.')
    .addCommand(addFlags(load, clusterFlags))
    .addCommand(addFlags(ls, clusterFlags))
    .addCommand(addFlags(rm, clusterFlags))
    .addCommand(addFlags(build, buildFlags));
}
