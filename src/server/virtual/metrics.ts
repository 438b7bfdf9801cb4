/** Resource usage of nodes and pods. The node agents are asked for it with every request; nothing is collected in between. */
import { formatQuantity } from '../../base/quantity.ts';
import { timestamp } from '../../base/timestamp.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { NodeMetrics } from '../../kinds/groups/metrics/node-metrics.ts';
import { PodMetrics } from '../../kinds/groups/metrics/pod-metrics.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import { selfLinkOf } from '../cache/encoding.ts';
import type { Core } from '../core.ts';
import type { NodeUsage, Usage } from '../nodes/connection.ts';
import type { ObjectQuery, VirtualResource } from './virtual-resource.ts';

export const nodeMetrics: VirtualResource = {
  kind: NodeMetrics,
  async all(core, wanted) {
    const nodes = await known<Node>(core, Node, wanted);
    const measured = await Promise.all(nodes.map(({ metadata }) => core.nodes.usage(metadata.name ?? '')));
    return nodes.flatMap((node, index) => {
      const found = measured[index];
      return found ? [{ ...head(core, NodeMetrics, node, found), usage: amounts(found.node) }] : [];
    });
  },
};

export const podMetrics: VirtualResource = {
  kind: PodMetrics,
  async all(core, wanted) {
    const pods = (await known<Pod>(core, Pod, wanted)).filter(({ status }) => status.phase === 'Running');
    const nodes = new Set(pods.map(({ spec }) => spec.nodeName ?? ''));
    const measured = new Map<string, readonly [NodeUsage, NodeUsage['pods'][number]]>();
    const ask = async (node: string) => {
      const found = await core.nodes.usage(node);
      for (const pod of found?.pods ?? []) measured.set(`${pod.namespace}/${pod.name}`, [found as NodeUsage, pod]);
    };
    await Promise.all([...nodes].map(ask));
    return pods.flatMap((pod) => {
      const [found, used] = measured.get(`${pod.metadata.namespace}/${pod.metadata.name}`) ?? [];
      if (!found || !used) return [];
      const containers = used.containers.map(({ name, ...usage }) => ({ name, usage: amounts(usage) }));
      return [{ ...head(core, PodMetrics, pod, found), containers }];
    });
  },
};

async function known<T extends KubeObject>(
  core: Core,
  kind: Kind<T>,
  { namespace, matches }: ObjectQuery,
): Promise<readonly T[]> {
  await core.cache.fresh();
  const objects = core.cache.table(kind).entries(namespace);
  return objects.map((entry) => entry.hub(kind)).filter(matches) as T[];
}

/** Has the labels of the measured object, so that the same label selectors find both. */
function head(core: Core, kind: Kind, { metadata }: KubeObject, { time, window }: NodeUsage) {
  const { name = '', namespace = '', labels } = metadata;
  return {
    kind: kind.kind,
    apiVersion: kind.hub.apiVersion,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      selfLink: selfLinkOf(kind, kind.hub, { namespace, name }),
      creationTimestamp: timestamp(core.clock.now()),
      ...(labels ? { labels } : {}),
    },
    timestamp: timestamp(time),
    window: `${window / 1000}s`,
  };
}

const amounts = ({ cpu, memory }: Usage) => ({
  cpu: formatQuantity({ mantissa: BigInt(Math.round(cpu)), exponent: -9, format: 'DecimalSI' }),
  memory: formatQuantity({ mantissa: BigInt(Math.round(memory)), exponent: 0, format: 'BinarySI' }),
});
