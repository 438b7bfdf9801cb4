/** The flags of `qd token create`. */
import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import { connectionFlags } from '../../flags/cluster.ts';
import * as value from '../../flags/values.ts';

const NODE_GROUP = 'system:bootstrappers:quarterdeck:default-node-token';
export const SERVER_GROUP = 'system:bootstrappers:quarterdeck:servers';
const USAGES = ['signing', 'authentication'] as const;
const NODE_TTL_MS = 24 * 3_600_000;
/** Whoever has such a token gets all keys. */
const SERVER_TTL_MS = 3_600_000;

export const createFlags = [
  flag('--server', { help: 'the token lets machines join as servers, with all keys of the cluster, and not as nodes' }),
  flag('--ttl <time>', {
    help: 'how long the token is valid; 0: it never expires',
    parse: (text) => (text === '0' ? 0 : value.duration(text)),
    defaultText: '24h; with --server, 1h',
  }),
  flag('--groups <list>', {
    help: 'groups that a machine belongs to while it joins',
    parse: groups,
    defaultText: `${NODE_GROUP}; with --server, ${SERVER_GROUP}`,
  }),
  flag('--usages <list>', { help: 'what the token may be used for', parse: value.namesOf(USAGES), default: USAGES }),
  flag('--description <text>', { help: 'what the token is for, shown by qd token list' }),
  flag('-q, --quiet', { help: 'print only the token' }),
  ...connectionFlags,
] as const;

export type GivenCreateFlags = ValuesOf<typeof createFlags>;
export type CreateFlags = GivenCreateFlags & { readonly ttl: number; readonly groups: readonly string[] };

/** Adds the defaults, which depend on what the token is for. Throws when flags do not go together. */
export function settleCreate(given: GivenCreateFlags): CreateFlags {
  const { server = false, ttl, groups: named } = given;
  if (server && named !== undefined) throw new FlagError('--server and --groups cannot be given together.');
  const defaults = server ? { ttl: SERVER_TTL_MS, groups: [SERVER_GROUP] } : { ttl: NODE_TTL_MS, groups: [NODE_GROUP] };
  return { ...given, ttl: ttl ?? defaults.ttl, groups: named ?? defaults.groups };
}

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
