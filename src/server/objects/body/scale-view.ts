import { noSuchPath } from '../../../api/errors.ts';
import { getPath } from '../../../base/json/tree.ts';
import { type Scale, scaleShapeOf } from '../../../kinds/groups/autoscaling/scale.ts';
import type { KubeObject, Version } from '../../../kinds/kind.ts';
import type { ScaleDefinition } from '../../../kinds/subresources.ts';
import type { Resource } from '../registry/registry.ts';

export const SCALE_KIND = 'Scale';

/** Returns the position of the replicas in a version. */
export function scaleDefinition({ subresources }: Version): ScaleDefinition {
  if (!subresources.scale) throw noSuchPath();
  return subresources.scale;
}

export function scaleOf({ version }: Resource, object: KubeObject): Scale {
  const { replicas, observed, selector } = scaleDefinition(version);
  const shape = scaleShapeOf(version.apiVersion);
  const { name, namespace, selfLink, uid, resourceVersion, creationTimestamp } = object.metadata;
  const desired = getPath(object, replicas) as number | undefined;
  return {
    kind: SCALE_KIND,
    apiVersion: shape.apiVersion,
    metadata: { name, namespace, selfLink: `${selfLink}/scale`, uid, resourceVersion, creationTimestamp },
    spec: desired ? { replicas: desired } : {},
    status: shape.status((getPath(object, observed) as number | undefined) ?? 0, getPath(object, selector) as never),
  };
}
