import type { Attack } from '../attack.ts';

const PATH = '/apis/apps/v1/namespaces/tenant/deployments';
const ITEMS = 9_000;

const listOf = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));

/** A container that a patch names a thousand times is merged as often, and the list in it ordered. */
export const repeatedMergeKeys: Attack = {
  name: 'strategic merge patch',
  async run({ tenant }) {
    const labels = { app: 'merged' };
    const env = listOf(ITEMS, (at) => ({ name: `E${at}`, value: 'x' }));
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'busybox:1.36', env }] } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    await tenant.send('POST', PATH, { body: { metadata: { name: 'merged' }, spec } });
    const first = { name: 'main', '$setElementOrder/env': [{ name: 'E1' }] };
    const repeated = [first, { ...first, env: [] }, { name: 'main', env: [{ name: 'E1', value: 'y' }] }];
    for (const item of repeated) {
      const body = { spec: { template: { spec: { containers: listOf(1_000, () => item) } } } };
      await tenant.send('PATCH', `${PATH}/merged`, { body, type: 'application/strategic-merge-patch+json' });
    }
    await tenant.send('DELETE', `${PATH}/merged`);
  },
};
