/** The flags of `qd token create`. */
import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import { connectionFlags } from '../../flags/cluster.ts';
import * as value from '../../flags/values.ts';

const DEFAULT_GROUP = 'system:bootstrappers:quarterdeck:default-node-token';
const USAGES = ['signing', 'authentication'] as const;
const DEFAULT_TTL_MS = 24 * 3_600_000;

export const createFlags = [
  flag('--ttl <time>', {
    help: 'how long the token is valid; 0: it never expires',
    parse: (text) => (text === '0' ? 0 : value.duration(text)),
    default: DEFAULT_TTL_MS,
    defaultText: '24h',
  }),
  flag('--groups <list>', {
    help: 'groups that a machine belongs to while it joins',
    parse: groups,
    default: [DEFAULT_GROUP] as readonly string[],
  }),
  flag('--usages <list>', { help: 'what the token may be used for', parse: value.namesOf(USAGES), default: USAGES }),
  flag('--description <text>', { help: 'what the token is for, shown by qd token list' }),
  flag('-q, --quiet', { help: 'print only the token' }),
  ...connectionFlags,
] as const;

export type CreateFlags = ValuesOf<typeof createFlags>;

function groups(text: string): readonly string[] {
  const names = value.list(text);
  if (names.some((name) => !/^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(name))) {
    throw new FlagError('Groups must start with system:bootstrappers:.');
  }
  return names;
}

export function token(text: string): string {
  if (!/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text)) throw new FlagError('It must be like abcdef.0123456789abcdef.');
  return text;
}
