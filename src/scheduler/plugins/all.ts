/** Lists all plugins, in the order in which their filters run. */
import type { Plugin } from '../framework/plugin.ts';
import { imageLocality } from './nodes/image-locality.ts';
import { nodeAffinity } from './nodes/node-affinity.ts';
import { nodeName } from './nodes/node-name.ts';
import { nodePorts } from './nodes/node-ports.ts';
import { nodeResourcesBalancedAllocation } from './nodes/node-resources-balanced-allocation.ts';
import { nodeResourcesFit } from './nodes/node-resources-fit.ts';
import { nodeUnschedulable } from './nodes/node-unschedulable.ts';
import { taintToleration } from './nodes/taint-toleration.ts';
import { interPodAffinity } from './pods/inter-pod-affinity.ts';
import { podTopologySpread } from './pods/pod-topology-spread.ts';
import { schedulingGates } from './pods/scheduling-gates.ts';
import { selectorLimit } from './pods/selector-limit.ts';
import { nodeVolumeLimits } from './volumes/node-volume-limits.ts';
import { volumeBinding } from './volumes/volume-binding.ts';
import { volumeRestrictions } from './volumes/volume-restrictions.ts';
import { volumeZone } from './volumes/volume-zone.ts';

export const plugins: readonly Plugin[] = [
  schedulingGates,
  selectorLimit,
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
