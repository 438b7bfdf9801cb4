import { ComponentStatus } from '../../../kinds/groups/core/component-status.ts';
import { computed } from './computed.ts';

/** Reports the store's health under the name that clients expect, whatever the store is. */
export const componentStatus = computed(ComponentStatus, async ({ store }) => {
  const condition = await Promise.resolve(store.revision()).then(
    () => ({ type: 'Healthy', status: 'True', message: 'ok' }),
    (error: Error) => ({ type: 'Healthy', status: 'False', error: error.message }),
  );
  return [{ kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name: 'etcd-0' }, conditions: [condition] }];
});
