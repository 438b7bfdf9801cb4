/** Assigns every node a pod CIDR from the cluster's. IPv4 only. */
import type { SeenNode } from '../../../api/seen-objects.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { parseIp } from '../../../kinds/shapes/meta/addresses/ip-address.ts';
import { type Controller, defineController, type Listers } from '../../loop/define.ts';
import { event, type Plan, patch, requeueAfter } from '../../loop/plan.ts';

/** A CIDR, as its first address and size. */
interface Range {
  readonly first: number;
  readonly size: number;
}

export interface NodeIpamOptions {
  /** CIDR to divide, such as `10.244.0.0/16`; absent: nodes bring their own. */
  readonly podRange?: string | undefined;
}

const ADDRESSES_PER_NODE = 256;
/** Delay before looking for a free CIDR again. */
const RETRY_MS = 60_000;

/** Assigns one CIDR at a time, and remembers assignments that the cache does not show yet. */
export function nodeIpamController(podRange: string): Controller {
  const given = new Map<string, string>();
  return defineController<Node, ReadonlyMap<string, string>>({
    name: 'node-ipam',
    account: 'node-controller',
    component: 'cidrAllocator',
    watches: Node,
    workers: 1,
    async observe(node, { key, of }) {
      for (const [name] of given) if (of(Node).get(name)?.spec.podCIDR) given.delete(name);
      const range = node && !node.spec.podCIDR ? freeRange(podRange, key.name, { of, given }) : undefined;
      if (range) given.set(key.name, range);
      else given.delete(key.name);
      return given;
    },
    plan: planNodeRange,
  });
}

export function planNodeRange(
  node: SeenNode | undefined,
  { observed: given }: { readonly observed: ReadonlyMap<string, string> },
): Plan {
  if (!node || node.spec.podCIDR || node.metadata.deletionTimestamp) return [];
  const { name = '', resourceVersion } = node.metadata;
  const podCIDR = given.get(name);
  if (podCIDR) {
    const changes = { metadata: { resourceVersion }, spec: { podCIDR, podCIDRs: [podCIDR] } };
    return [patch(Node, node, { type: 'merge', changes })];
  }
  const message = `Node ${name} status is now: CIDRNotAvailable`;
  return [event(node, 'Normal', 'CIDRNotAvailable', message), requeueAfter(RETRY_MS)];
}

/** Returns the first free CIDR; undefined when all are taken. */
export function freeRange(
  podRange: string,
  name: string,
  { of, given }: Listers & { readonly given: ReadonlyMap<string, string> },
): string | undefined {
  const whole = parseRange(podRange);
  const size = Math.min(ADDRESSES_PER_NODE, whole.size);
  const others = [...given].filter(([node]) => node !== name).map(([, range]) => range);
  const nodes = of(Node)
    .list()
    .flatMap(({ spec }) => spec.podCIDRs ?? []);
  const taken = new Set<number>();
  for (const { first, size: length } of [...nodes, ...others].filter((range) => !range.includes(':')).map(parseRange)) {
    // Clients can write any CIDR: only its overlap with ours is enumerated.
    const end = Math.min(first + length, whole.first + whole.size);
    for (let at = Math.max(first - (first % size), whole.first); at < end; at += size) taken.add(at);
  }
  for (let at = whole.first; at < whole.first + whole.size; at += size) {
    if (!taken.has(at)) return formatRange({ first: at, size });
  }
  return undefined;
}

function parseRange(text: string): Range {
  const [address = '', prefix = '32'] = text.split('/');
  const first = (parseIp(address) ?? new Uint8Array(4)).reduce((sum, part) => sum * 256 + part, 0);
  return { first, size: 2 ** (32 - Number(prefix)) };
}

function formatRange({ first, size }: Range): string {
  const parts = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256);
  return `${parts.join('.')}/${32 - Math.log2(size)}`;
}
