import type { LocalMachine } from '../../machine/local-machine.ts';

export interface NodeAddress {
  readonly type: 'InternalIP' | 'Hostname';
  readonly address: string;
}

/** The machine that the agent runs on. */
export type Machine = Pick<LocalMachine, 'describe' | 'pressures'>;
