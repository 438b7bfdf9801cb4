/** The flags of `qd get`, `qd diff`, `qd undo` and `qd history`. */
import { flag, type ValuesOf } from '../../base/flag.ts';
import { connectionFlags } from '../flags/cluster.ts';
import { positiveCount } from '../flags/values.ts';

const namespace = flag('-n, --namespace <name>', { help: 'namespace of the objects', default: 'default' });
const AT = '10 minutes ago, 90s, a time such as 2030-01-01T12:00:00Z, or a resourceVersion';

export const getFlags = [
  namespace,
  flag('-A, --all-namespaces', { help: 'objects of all namespaces' }),
  flag('-l, --selector <labels>', { help: 'only objects with these labels, such as app=web' }),
  flag('-o, --output <format>', { help: 'how to print', choices: ['table', 'yaml', 'json'], default: 'table' }),
  flag('--at <time>', { help: `read the past: ${AT}` }),
  ...connectionFlags,
] as const;

export type GetFlags = ValuesOf<typeof getFlags>;

export const diffFlags = [
  namespace,
  flag('--at <time>', { help: `the time to compare with: ${AT}`, default: '1 minute ago' }),
  ...connectionFlags,
] as const;

export type DiffFlags = ValuesOf<typeof diffFlags>;

const anyNamespace = (help: string) =>
  flag('-n, --namespace <name>', { help, defaultText: 'default; with --all: all of them' });
const since = (help: string) => flag('--since <time>', { help: `${help}: ${AT}` });
const until = flag('--until <time>', { help: `only changes up to this: ${AT}`, defaultText: 'now' });
const yes = flag('--yes', { help: 'do not ask; required where standard input is not a terminal' });

export const undoFlags = [
  anyNamespace('namespace of the object, or of the changes'),
  flag('--to <time>', {
    help: `go back, or forward again, to this: ${AT}`,
    defaultText: 'what was before the last change',
  }),
  flag('--all', { help: 'undo the changes of all objects since a time, in one transaction' }),
  since('with --all: the time to go back to'),
  until,
  flag('--user <name>', {
    help: 'with --all: only changes by this user',
    defaultText: 'everybody but the components of the cluster',
  }),
  flag('--force', { help: 'with --all: also overwrite later changes of others' }),
  flag('--dry-run', { help: 'let the server check the change without making it' }),
  yes,
  ...connectionFlags,
] as const;

export type UndoFlags = ValuesOf<typeof undoFlags>;

export const historyFlags = [
  flag('-n, --namespace <name>', {
    help: 'namespace of the objects',
    defaultText: 'default; of all kinds: all of them',
  }),
  flag('-A, --all-namespaces', { help: 'objects of all namespaces' }),
  since('only changes after this'),
  until,
  flag('--user <name>', { help: 'only changes by this user' }),
  flag('--status', { help: 'also changes of nothing but the status' }),
  flag('--limit <count>', { help: 'number of changes, the newest first', parse: positiveCount, default: 50 }),
  flag('-o, --output <format>', { help: 'how to print', choices: ['table', 'yaml', 'json'], default: 'table' }),
  ...connectionFlags,
] as const;

export type HistoryFlags = ValuesOf<typeof historyFlags>;

export const purgeFlags = [
  flag('-n, --namespace <name>', { help: 'namespace of the objects', defaultText: 'all; of one object: default' }),
  flag('--before <time>', { help: `only what is older than this: ${AT}` }),
  flag('--all', { help: 'delete all history' }),
  yes,
  ...connectionFlags,
] as const;

export type PurgeFlags = ValuesOf<typeof purgeFlags>;
