/** The flags of `qd get`, `qd diff` and `qd undo`. */
import { flag, type ValuesOf } from '../../base/flag.ts';
import { connectionFlags } from '../flags/cluster.ts';

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

export const undoFlags = [
  namespace,
  flag('--to <time>', {
    help: `go back, or forward again, to this: ${AT}`,
    defaultText: 'what was before the last change',
  }),
  flag('--dry-run', { help: 'let the server check the change without making it' }),
  flag('--yes', { help: 'do not ask; required where standard input is not a terminal' }),
  ...connectionFlags,
] as const;

export type UndoFlags = ValuesOf<typeof undoFlags>;
