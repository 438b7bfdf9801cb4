/** The flags of `qd image build`. The other commands have those of the cluster alone. */
import { flag, type ValuesOf } from '../../base/flag.ts';
import { clusterFlags } from '../flags/cluster.ts';
import * as value from '../flags/values.ts';

export const buildFlags = [
  ...clusterFlags,
  flag('--image <name>', { help: 'name of the image', defaultText: 'quarterdeck:VERSION' }),
  flag('--output <file>', {
    help: 'write an archive for qd image load, docker load or ctr image import, instead of loading it',
    parse: value.file,
  }),
] as const;

export type BuildFlags = ValuesOf<typeof buildFlags>;
