/** The flags of `qd certs forget`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { keysFlags } from '../../encryption/flags.ts';

export const forgetFlags = [
  ...keysFlags,
  flag('--yes', { help: 'do not ask; required where standard input is not a terminal' }),
] as const;

export type ForgetFlags = ValuesOf<typeof forgetFlags>;
