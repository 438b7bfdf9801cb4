/** Builds the Node object. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';
import type { MachineDescription } from '../../machine/describe.ts';
import type { Pressure } from '../../machine/pressure/conditions.ts';
import type { Image, Runtime, RuntimeHealth } from '../../runtime/runtime.ts';
import type { NodeAddress } from './machine.ts';

export interface NodeSettings {
  readonly name: string;
  readonly addresses: readonly NodeAddress[];
  /** Labels besides those that every node has. */
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations besides those that every node has. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** Ranges of pod addresses that the node brings; empty: the cluster gives it one. */
  readonly podCIDRs: readonly string[];
  /** Where the agent serves logs, exec and the like; undefined: the server reaches it in another way. */
  readonly port: number | undefined;
  /** Tells when another machine runs the node; undefined: none can. */
  readonly ownership?: Ownership | undefined;
}

interface Ownership {
  readonly annotation: string;
  /** Its value while this machine runs the node. */
  readonly id: string;
  /** Called once, when the node has another owner. */
  onTaken(node: DeepReadonly<Node>): void;
}

export interface NodeHealth {
  readonly runtime: RuntimeHealth;
  /** Missing isolation of pods, as a sentence; undefined: none. */
  readonly limitation?: string | undefined;
  readonly pressures: readonly Pressure[];
}

export interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
}

type Known = Pick<NodeCondition, 'type' | 'lastTransitionTime'> & { readonly status: string };

/** As in Kubernetes, the status names at most this many images, the largest first. */
const MAX_IMAGES = 50;
const MAX_NAMES_PER_IMAGE = 5;

export function nodeLabels(
  { name, labels }: Pick<NodeSettings, 'name' | 'labels'>,
  architecture: string,
): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture,
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    ...labels,
  };
}

export function newNode(settings: NodeSettings, status: Draft<Node>['status'], architecture: string): Draft<Node> {
  const { name, taints, podCIDRs } = settings;
  return {
    metadata: { name, labels: nodeLabels(settings, architecture), annotations: nodeAnnotations(settings) },
    spec: {
      ...(taints.length > 0 ? { taints } : {}),
      ...(podCIDRs.length > 0 ? { podCIDR: podCIDRs[0], podCIDRs } : {}),
    },
    status,
  } as Draft<Node>;
}

/** Volumes of claims are attached by nobody else. */
const ANNOTATIONS = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

export function nodeAnnotations({ annotations }: NodeSettings): Record<string, string> {
  return { ...ANNOTATIONS, ...annotations };
}

export interface StatusParts {
  readonly settings: NodeSettings;
  readonly description: MachineDescription;
  readonly images: readonly Image[];
  readonly runtime: Pick<Runtime, 'handlers' | 'supplementalGroupsPolicy'>;
  readonly conditions: readonly NodeCondition[];
}

export function nodeStatus({ settings, description, images, runtime, conditions }: StatusParts) {
  const { addresses, port } = settings;
  const { handlers, supplementalGroupsPolicy } = runtime;
  return {
    addresses,
    capacity: description.capacity,
    allocatable: description.allocatable,
    nodeInfo: description.nodeInfo,
    conditions,
    images: imagesOf(images),
    ...(handlers.length === 0
      ? {}
      : { runtimeHandlers: handlers.map(({ name, ...features }) => ({ name, features })) }),
    ...(supplementalGroupsPolicy === undefined ? {} : { features: { supplementalGroupsPolicy } }),
    ...(port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
  };
}

function imagesOf(images: readonly Image[]) {
  return [...images]
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, MAX_IMAGES)
    .map(({ digests, tags, bytes }) => ({
      names: [...digests, ...tags].slice(0, MAX_NAMES_PER_IMAGE),
      sizeBytes: bytes,
    }));
}

/** The transition time changes only with the status. */
export function nodeConditions({ runtime, limitation, pressures }: NodeHealth, before: readonly Known[], now: number) {
  const time = timestamp(now);
  const condition = (type: string, holds: boolean, reason: string, message: string): NodeCondition => {
    const status = holds ? 'True' : 'False';
    const old = before.find((each) => each.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : time;
    return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime };
  };
  return [
    ...pressures.map(({ type, isPressed, reason, message }) => condition(type, isPressed, reason, message)),
    ...(limitation === undefined ? [] : [condition('LimitedIsolation', true, 'LimitedIsolation', limitation)]),
    readyCondition(runtime, condition),
  ];
}

function readyCondition(
  { isReady, isNetworkReady, message = '' }: RuntimeHealth,
  condition: (type: string, holds: boolean, reason: string, message: string) => NodeCondition,
): NodeCondition {
  if (!isReady) return condition('Ready', false, 'KubeletNotReady', `container runtime is down: ${message}`);
  if (!isNetworkReady) {
    const why = `container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:${message}`;
    return condition('Ready', false, 'KubeletNotReady', why);
  }
  return condition('Ready', true, 'KubeletReady', 'kubelet is posting ready status');
}
