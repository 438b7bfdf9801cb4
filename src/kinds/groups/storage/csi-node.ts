import { indexBy } from '../../../base/collections/index-by.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { unique } from '../../../schema/rules.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { csiDriverName } from '../../shapes/meta/csi-driver-name.ts';

const MAX_NODE_ID_BYTES = 256;

const driver = {
  name: s.string('Name of the driver, as in its CSIDriver object. Required.', {
    zero: true,
    required: true,
    rules: [csiDriverName],
  }),
  nodeID: s.string(
    'How the storage system identifies the node; at most 256 characters. Required. Cannot be changed while the driver is listed.',
    { zero: true, required: true, rules: [nodeId] },
  ),
  topologyKeys: s.list(
    s.string(),
    "Keys of node labels that describe where the node is in the driver's topology, such as a zone. Cannot be changed while the driver is listed.",
    { default: [] },
  ),
  allocatable: s.object('VolumeNodeResources', "How much of the driver's storage the node can use at a time.", {
    count: s.int32(
      'Maximum number of volumes of the driver that can be attached to the node at a time. Without it there is no limit.',
      { min: 0 },
    ),
  }),
};
type Driver = ObjectType<typeof driver>;

const fields = {
  spec: s.object(
    'CSINodeSpec',
    'The drivers on the node.',
    {
      drivers: s.listMap(
        s.object('CSINodeDriver', 'A CSI driver that runs on the node.', driver, { rules: [topologyKeys] }),
        'CSI drivers that run on the node. Empty if there are none.',
        { keys: ['name'], zero: true, rules: [unique('name')] },
      ),
    },
    { zero: true },
  ),
};

export type CSINode = KubeObject & ObjectType<typeof fields>;

/** The CSI drivers of a node. */
export const CSINode = defineKind({
  kind: 'CSINode',
  scope: 'Cluster',
  description: 'Lists the CSI drivers that run on a node. It has the name of the node and is maintained by its agent.',
  versions: { 'storage.k8s.io/v1': {} },
  fields,
  requiresVersion: true,
  rules: [driversAreImmutable],
  columns: ({ integer }) => [
    name,
    integer('Drivers', 'Number of drivers on the node.', ({ spec }) => spec?.drivers?.length),
    age,
  ],
});

function nodeId(id: string): FieldError | undefined {
  return Buffer.byteLength(id) > MAX_NODE_ID_BYTES
    ? invalid('', id, `must be ${MAX_NODE_ID_BYTES} characters or less`)
    : undefined;
}

/** Errors have the path of the driver, as in Kubernetes. */
function topologyKeys({ topologyKeys: keys }: Driver): FieldError[] {
  const seen = new Set<string>();
  return keys.flatMap((key) => [
    ...(key ? [] : [required('')]),
    ...(seen.size === seen.add(key).size ? [duplicate('', key)] : []),
    ...qualifiedName(key).map((complaint) => invalid('', key, complaint)),
  ]);
}

/** Drivers can be added and removed; of an existing one only `allocatable` may change. */
function driversAreImmutable({ spec }: CSINode, { oldRoot }: RuleContext<CSINode, CSINode>): FieldError[] {
  const now = indexBy(spec.drivers, (driver) => driver.name);
  return (oldRoot?.spec.drivers ?? []).flatMap((old) => {
    const driver = now.get(old.name);
    if (!driver || deepEqual(identity(driver), identity(old))) return [];
    return [invalid('spec.drivers', identity(driver), 'field is immutable')];
  });
}

const identity = ({ name, nodeID, topologyKeys: keys }: Driver) => ({
  Name: name,
  NodeID: nodeID,
  TopologyKeys: keys.length ? keys : null,
  Allocatable: null,
});
