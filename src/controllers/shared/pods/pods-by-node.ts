import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';

const NONE: readonly string[] = [];

/** An index: pods by the name of their node. */
export const podsByNode = ({ spec }: DeepReadonly<Pod>): readonly string[] => (spec.nodeName ? [spec.nodeName] : NONE);
