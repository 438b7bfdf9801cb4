import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import * as value from '../../flags/values.ts';

const MAX_NODES = 50_000;

export const componentFlags = [
  flag('--controllers <list>', {
    help: 'controllers to run: * for all, NAME, or -NAME for all but that one; the scheduler is one of them',
    parse: value.list,
    default: ['*'] as readonly string[],
  }),
  flag('--runtime <runtime>', { help: 'what runs pods', choices: ['auto', 'simulated'], default: 'auto' }),
  flag('--nodes <count>', {
    help: 'number of nodes',
    parse: nodeCount,
    defaultText: '1 with --runtime simulated, otherwise 0',
  }),
  flag('--simulation <file>', { help: 'rules for simulated nodes and their pods' }),
  flag('--cluster-cidr <cidr>', {
    help: 'addresses of pods',
    parse: value.serviceRange,
    defaultText: '10.244.0.0/16, or 10.128.0.0/9 for more than 256 nodes',
  }),
  flag('--volumes-dir <dir>', {
    help: 'directory in which nodes create the volumes of claims',
    defaultText: 'DIR/volumes',
  }),
] as const;

export type ComponentFlags = ValuesOf<typeof componentFlags>;

function nodeCount(text: string): number {
  const count = value.count(text);
  if (count > MAX_NODES) throw new FlagError(`It must be at most ${MAX_NODES}.`);
  return count;
}
