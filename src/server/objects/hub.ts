import type { KubeObject } from '../../kinds/kind.ts';
import type { Resource } from '../registry.ts';

/** Converts a decoded object of the call's version to the stored version. Takes the object over. */
export function toHub({ kind, version }: Resource, object: KubeObject): KubeObject {
  object.apiVersion = kind.hub.apiVersion;
  return version.toHub ? version.toHub(object) : object;
}
