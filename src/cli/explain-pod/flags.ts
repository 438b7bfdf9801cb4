/** The flags of `qd explain-pod`. */
import { flag, type ValuesOf } from '../../base/flag.ts';
import { connectionFlags } from '../flags/cluster.ts';

export const explainFlags = [
  flag('-n, --namespace <name>', { help: 'namespace of the pod', default: 'default' }),
  flag('--all', { help: 'also show plugins that accept the node' }),
  flag('--json', { help: "print the server's answer as JSON" }),
  ...connectionFlags,
] as const;

export type ExplainFlags = ValuesOf<typeof explainFlags>;
