/**
 * Which fields a definition calls required. Clients refuse an object without them before they send it, also where a part
 * of an object is meant to be merged into a whole. So what is said here is what Kubernetes says, and not always what the
 * server will insist on.
 */
import type { Schema } from '../../schema/schema.ts';
import type { Definition } from './definitions.ts';

/** The whole object must have them; what is sent may be a part, or the server makes them up. */
const INSISTED_ON: Readonly<Record<string, readonly string[]>> = {
  AggregationRule: ['clusterRoleSelectors'],
  ConfigMapProjection: ['name'],
  ConfigMapVolumeSource: ['name'],
  Container: ['image'],
  EphemeralContainer: ['image'],
  EphemeralVolumeSource: ['volumeClaimTemplate'],
  ExecAction: ['command'],
  FlowSchemaCondition: ['type'],
  IngressClassSpec: ['controller'],
  JobSpec: ['selector'],
  PersistentVolumeSpec: ['accessModes', 'capacity'],
  PriorityLevelConfigurationCondition: ['type'],
  ReplicationControllerSpec: ['template'],
  ScaleIOPersistentVolumeSource: ['volumeName'],
  ScaleIOVolumeSource: ['volumeName'],
  SecretProjection: ['name'],
  SecretVolumeSource: ['secretName'],
  StorageOSPersistentVolumeSource: ['volumeName'],
  StorageOSVolumeSource: ['volumeName'],
  VolumeAttributesClass: ['parameters'],
};

/** Called required, though the server could do without; by the definition's whole name, because versions differ. */
const ASKED_FOR: Readonly<Record<string, readonly string[]>> = {
  'io.k8s.api.apps.v1.DaemonSetSpec': ['selector'],
  'io.k8s.api.batch.v1.CronJob': ['spec'],
  'io.k8s.api.core.v1.Binding': ['target'],
  'io.k8s.api.core.v1.Event': ['metadata'],
  'io.k8s.api.core.v1.ScaleIOPersistentVolumeSource': ['secretRef'],
  'io.k8s.api.core.v1.ScaleIOVolumeSource': ['secretRef'],
};

/** In alphabetical order. Where places differ that use a definition, only what all of them require. */
export function requiredFields({ name, shape, uses }: Definition): string[] {
  const places = new Set([shape, ...uses].map(({ fields }) => fields));
  const open = INSISTED_ON[shape.name];
  const required = Object.keys(shape.fields).filter(
    (field) => !open?.includes(field) && [...places].every((fields) => fields[field] && isRequired(fields[field])),
  );
  return [...required, ...(ASKED_FOR[name] ?? [])].sort();
}

/** Whether a client must send a field: an object without it is refused, and nothing fills it in. */
function isRequired({ required, zero, default: value }: Schema): boolean {
  return zero === true || (Boolean(required) && value === undefined);
}
