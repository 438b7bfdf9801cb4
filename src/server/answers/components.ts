import { ComponentStatus } from '../../kinds/groups/core/component-status.ts';
import type { Answer } from './answer.ts';

/** The store goes by the name under which clients look for it. */
export const componentStatus: Answer = {
  kind: ComponentStatus,
  async all(core) {
    const condition = await Promise.resolve(core.store.revision()).then(
      () => ({ type: 'Healthy', status: 'True', message: 'ok' }),
      (error: Error) => ({ type: 'Healthy', status: 'False', error: error.message }),
    );
    return [
      { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name: 'etcd-0' }, conditions: [condition] } as never,
    ];
  },
};
