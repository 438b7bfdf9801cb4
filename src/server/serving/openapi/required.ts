/**
 * Determines the required fields of the published schemas. Clients reject an object without them before they send it,
 * even a part that will be merged into a whole. Therefore they are the required fields of Kubernetes, which are not
 * always those that the server requires.
 */
import type { Schema } from '../../../schema/schema.ts';
import type { Definition } from './definitions.ts';

/** Fields that the server requires and the schemas do not: a client may send a part, or the server fills them in. */
const REQUIRED_BY_SERVER_ONLY: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    AggregationRule: ['clusterRoleSelectors'],
    ApplyConfiguration: ['expression'],
    ConfigMapProjection: ['name'],
    ConfigMapVolumeSource: ['name'],
    Container: ['image'],
    EphemeralContainer: ['image'],
    EphemeralVolumeSource: ['volumeClaimTemplate'],
    ExecAction: ['command'],
    FlowSchemaCondition: ['type'],
    IngressClassSpec: ['controller'],
    JobSpec: ['selector'],
    JSONPatch: ['expression'],
    MutatingAdmissionPolicyBindingSpec: ['policyName'],
    MutatingAdmissionPolicySpec: ['matchConstraints', 'mutations', 'reinvocationPolicy'],
    ParamKind: ['apiVersion', 'kind'],
    ParamRef: ['parameterNotFoundAction'],
    PersistentVolumeSpec: ['accessModes', 'capacity'],
    PriorityLevelConfigurationCondition: ['type'],
    ReplicationControllerSpec: ['template'],
    ScaleIOPersistentVolumeSource: ['volumeName'],
    ScaleIOVolumeSource: ['volumeName'],
    SecretProjection: ['name'],
    SecretVolumeSource: ['secretName'],
    StorageOSPersistentVolumeSource: ['volumeName'],
    StorageOSVolumeSource: ['volumeName'],
    ValidatingAdmissionPolicySpec: ['matchConstraints'],
    VolumeAttributesClass: ['parameters'],
  }),
);

/** Fields that the schemas require and the server does not, by definition, because versions differ. */
const REQUIRED_BY_SCHEMA_ONLY: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'io.k8s.api.apps.v1.DaemonSetSpec': ['selector'],
    'io.k8s.api.batch.v1.CronJob': ['spec'],
    'io.k8s.api.core.v1.Binding': ['target'],
    'io.k8s.api.core.v1.Event': ['metadata'],
    'io.k8s.api.core.v1.ScaleIOPersistentVolumeSource': ['secretRef'],
    'io.k8s.api.core.v1.ScaleIOVolumeSource': ['secretRef'],
  }),
);

/** Returns the required fields of a definition, in alphabetical order: those that all of its uses require. */
export function requiredFields({ name, shape, uses }: Definition): string[] {
  const places = new Set([shape, ...uses].map(({ fields }) => fields));
  const open = REQUIRED_BY_SERVER_ONLY.get(shape.name);
  const required = Object.keys(shape.fields).filter(
    (field) => !open?.includes(field) && [...places].every((fields) => fields[field] && isRequired(fields[field])),
  );
  return [...required, ...(REQUIRED_BY_SCHEMA_ONLY.get(name) ?? [])].sort();
}

/** Reports whether a client must send a field: an object without it is invalid, and no default is filled in. */
function isRequired({ required, zero, default: value }: Schema): boolean {
  return zero === true || (Boolean(required) && value === undefined);
}
