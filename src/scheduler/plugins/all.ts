/** Every rule, in the order in which filters are asked: the one list. */
import type { Plugin } from '../framework/plugin.ts';
import { imageLocality } from './image-locality.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';
import { podTopologySpread } from './pod-topology-spread.ts';
import { schedulingGates } from './scheduling-gates.ts';
import { taintToleration } from './taint-toleration.ts';
import { volumeBinding } from './volume-binding.ts';
import { volumeRestrictions } from './volume-restrictions.ts';
import { volumeZone } from './volume-zone.ts';

export const plugins: readonly Plugin[] = [
  schedulingGates,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  nodeResourcesBalancedAllocation,
  imageLocality,
];
