import { flag } from '../../../base/flag.ts';

export const detachFlags = [
  flag('--detach', { help: 'run in the background, with the log in DIR/qd.log; returns when the cluster is ready' }),
] as const;
