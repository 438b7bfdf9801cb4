/** Resource usage of nodes and pods. The node agents are queried for every request; nothing is collected in between. */
import type { NodeUsage, Usage } from '../../../api/node-usage.ts';
import { formatQuantity } from '../../../base/quantity.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { NodeMetrics } from '../../../kinds/groups/metrics/node-metrics.ts';
import { PodMetrics } from '../../../kinds/groups/metrics/pod-metrics.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { selfLinkOf } from '../../objects/cache/entry/encoding.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import type { Outbound } from '../../outbound/ports.ts';
import { computed, type ObjectQuery } from './computed.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'clock'> & Pick<Outbound, 'nodes'>;

export const nodeMetrics = computed(NodeMetrics, async (core, query) => {
  const nodes = await storedObjects(core, Node, query);
  const measured = await Promise.all(nodes.map(({ metadata }) => core.nodes.usage(metadata.name ?? '')));
  return nodes.flatMap((node, index) => {
    const found = measured[index];
    return found ? [{ ...head(core, NodeMetrics, node, found), usage: amounts(found.node) }] : [];
  });
});

export const podMetrics = computed(PodMetrics, async (core, query) => {
  const pods = (await storedObjects(core, Pod, query)).filter(({ status }) => status.phase === 'Running');
  const nodes = new Set(pods.map(({ spec }) => spec.nodeName ?? ''));
  const measured = new Map<string, readonly [NodeUsage, NodeUsage['pods'][number]]>();
  const measure = async (node: string) => {
    const usage = await core.nodes.usage(node);
    if (usage) for (const pod of usage.pods) measured.set(`${pod.namespace}/${pod.name}`, [usage, pod]);
  };
  await Promise.all([...nodes].map(measure));
  return pods.flatMap((pod) => {
    const [usage, used] = measured.get(`${pod.metadata.namespace}/${pod.metadata.name}`) ?? [];
    if (!usage || !used) return [];
    const containers = used.containers.map(({ name, ...each }) => ({ name, usage: amounts(each) }));
    return [{ ...head(core, PodMetrics, pod, usage), containers }];
  });
});

async function storedObjects<T extends KubeObject>(
  core: Ports,
  kind: Kind<T>,
  { namespace, matches }: ObjectQuery,
): Promise<readonly T[]> {
  await core.cache.fresh();
  const objects = core.cache.table(kind).entries(namespace);
  return objects.map((entry) => entry.hub(kind)).filter(matches) as T[];
}

/** Copies the labels of the measured object, so that the same label selectors find both. */
function head(core: Ports, kind: Kind, { metadata }: KubeObject, { time, window }: NodeUsage) {
  const { name = '', namespace = '', labels } = metadata;
  return {
    kind: kind.kind,
    apiVersion: kind.hub.apiVersion,
    metadata: {
      name,
      namespace: namespace || undefined,
      selfLink: selfLinkOf(kind, kind.hub, { namespace, name }),
      creationTimestamp: timestamp(core.clock.now()),
      labels,
    },
    timestamp: timestamp(time),
    window: `${window / 1000}s`,
  };
}

const amounts = ({ cpu, memory }: Usage) => ({
  cpu: formatQuantity({ mantissa: BigInt(Math.round(cpu)), exponent: -9, format: 'DecimalSI' }),
  memory: formatQuantity({ mantissa: BigInt(Math.round(memory)), exponent: 0, format: 'BinarySI' }),
});
