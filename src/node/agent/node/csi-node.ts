/** Keeps the CSINode of the node, which lists its CSI drivers, and the labels of their topology. */
import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { CSINode } from '../../../kinds/groups/storage/csi-node.ts';
import type { CsiDriverInfo } from '../../volumes/api.ts';

type Drivers = DeepReadonly<CSINode>['spec']['drivers'];

const NODE_IDS = 'csi.volume.kubernetes.io/nodeid';
const MAX_ATTEMPTS = 5;

/** Creates it when there is none. */
export async function ensureCsiNode(client: Client, nodeName: string): Promise<void> {
  await changeDrivers(client, nodeName, (drivers) => drivers);
}

export async function addCsiDriver(client: Client, nodeName: string, driver: CsiDriverInfo): Promise<void> {
  await describeNode(client, nodeName, driver);
  const { name, nodeId, maxVolumes, topology } = driver;
  const entry = {
    name,
    nodeID: nodeId,
    topologyKeys: Object.keys(topology).sort(),
    allocatable: maxVolumes > 0 ? { count: maxVolumes } : undefined,
  };
  await changeDrivers(client, nodeName, (drivers) => [...drivers.filter((each) => each.name !== name), entry]);
}

export async function removeCsiDriver(client: Client, nodeName: string, name: string): Promise<void> {
  await changeDrivers(client, nodeName, (drivers) => drivers.filter((each) => each.name !== name));
  const node = await client.of(Node).get(nodeName);
  const { [name]: gone, ...rest } = nodeIds(node);
  if (gone === undefined) return;
  const annotations = { [NODE_IDS]: Object.keys(rest).length > 0 ? JSON.stringify(rest) : null };
  await client.of(Node).patch(nodeName, { type: 'merge', changes: { metadata: { annotations } } as never });
}

/** A driver that changes where it is on the node must be registered anew: its entry cannot be changed. */
async function changeDrivers(client: Client, nodeName: string, change: (drivers: Drivers) => Drivers): Promise<void> {
  const objects = client.of(CSINode);
  for (let attempt = 1; ; attempt++) {
    try {
      const known = await objects.find(nodeName);
      if (known) {
        const drivers = change(known.spec.drivers);
        if (drivers !== known.spec.drivers) await objects.update({ ...known, spec: { drivers } } as Draft<CSINode>);
        return;
      }
      const { uid = '' } = (await client.of(Node).get(nodeName)).metadata;
      const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid };
      await objects.create({
        metadata: { name: nodeName, ownerReferences: [owner] },
        spec: { drivers: change([]) },
      } as Draft<CSINode>);
      return;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isApiError(error, 'Conflict', 'AlreadyExists')) throw error;
    }
  }
}

async function describeNode(
  client: Client,
  nodeName: string,
  { name, nodeId, topology }: CsiDriverInfo,
): Promise<void> {
  const node = await client.of(Node).get(nodeName);
  for (const [key, value] of Object.entries(topology)) {
    const known = node.metadata.labels?.[key];
    if (known !== undefined && known !== value) {
      throw new Error(
        `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${known}"`,
      );
    }
  }
  const ids = nodeIds(node);
  const isLabelled = Object.keys(topology).every((key) => node.metadata.labels?.[key] !== undefined);
  if (isLabelled && ids[name] === nodeId) return;
  const annotations = { [NODE_IDS]: JSON.stringify({ ...ids, [name]: nodeId }) };
  await client.of(Node).patch(nodeName, { type: 'merge', changes: { metadata: { labels: topology, annotations } } });
}

function nodeIds({ metadata }: DeepReadonly<Node>): Record<string, string> {
  try {
    return JSON.parse(metadata.annotations?.[NODE_IDS] ?? '{}') as Record<string, string>;
  } catch {
    return {};
  }
}
