import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, NONE, name, UNSET } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';

const lifecycleModes = ['Persistent', 'Ephemeral'];

const tokenRequest = {
  audience: s.string('Audience of the token. Empty means the API server.', { zero: true }),
  expirationSeconds: s.int64(
    'Lifetime of the token in seconds, from 600 to 2^32. Without it, the default lifetime of service account tokens applies.',
  ),
};
type TokenRequest = ObjectType<typeof tokenRequest>;

const spec = {
  attachRequired: s.boolean(
    'Whether volumes must be attached to a node, through a VolumeAttachment, before they are mounted. Defaults to true; cannot be changed.',
    { default: true },
  ),
  podInfoOnMount: s.boolean(
    'Whether the driver receives the name, namespace, UID and service account of the pod when it mounts a volume. Defaults to false.',
    { default: false },
  ),
  storageCapacity: s.boolean(
    'Whether the scheduler takes the CSIStorageCapacity objects of the driver into account when a pod needs a new volume. Defaults to false.',
    { default: false },
  ),
  fsGroupPolicy: s.enum(
    ['File', 'None', 'ReadWriteOnceWithFSType'],
    "Whether the ownership of a volume is changed to a pod's fsGroup on mount: `File` always, `None` never, `ReadWriteOnceWithFSType` only for ReadWriteOnce volumes with a file system type. Defaults to ReadWriteOnceWithFSType.",
    { default: 'ReadWriteOnceWithFSType' },
  ),
  tokenRequests: s.list(
    s.object('TokenRequest', 'A service account token that the driver needs.', tokenRequest),
    'Service account tokens of the pod that the driver receives when it mounts a volume, at most one per audience.',
    { rules: [tokenRequestsAreValid] },
  ),
  volumeLifecycleModes: s.set(
    s.string(),
    'Kinds of volumes the driver supports: `Persistent` for PersistentVolumes, `Ephemeral` for volumes that a pod defines inline. Defaults to Persistent only; cannot be changed.',
    { default: ['Persistent'], rules: [knownModes] },
  ),
  requiresRepublish: s.boolean(
    'Whether the driver is called again periodically for mounted volumes, to refresh their content. Needed with tokenRequests, so that tokens are renewed. Defaults to false.',
    { default: false },
  ),
  seLinuxMount: s.boolean(
    'Whether volumes of the driver can be mounted with an SELinux context option, so that their files need not be relabelled one by one. Defaults to false.',
    { default: false },
  ),
  nodeAllocatableUpdatePeriodSeconds: s.int64(
    'Interval in seconds at which the number of volumes a node can take is read from the driver again, into CSINode. At least 10; without it the number is read only once.',
    {
      rules: [
        (seconds: number) =>
          seconds < 10 ? invalid('', seconds, 'must be greater than or equal to 10 seconds') : undefined,
      ],
    },
  ),
  serviceAccountTokenInSecrets: s.boolean(
    'Whether the tokens of tokenRequests are passed in the secrets field of the CSI call rather than in the volume context, which is more likely to be logged. Allowed only with tokenRequests.',
  ),
  preventPodSchedulingIfMissing: s.boolean(
    'Not supported: the value is dropped. In Kubernetes it keeps pods away from nodes without the driver.',
  ),
};
type CSIDriverSpec = ObjectType<typeof spec>;

const fields = {
  spec: s.object('CSIDriverSpec', 'Requirements and capabilities of the driver.', spec, {
    zero: true,
    rules: [tokensInSecretsNeedRequests],
  }),
};

export type CSIDriver = KubeObject & ObjectType<typeof fields>;

/** Requirements and capabilities of a CSI driver. */
export const CSIDriver = defineKind({
  kind: 'CSIDriver',
  scope: 'Cluster',
  description:
    "Describes a CSI storage driver to the cluster: what it needs and what it supports. The name of the object is the driver's name. Usually created when the driver is installed.",
  versions: { 'storage.k8s.io/v1': {} },
  fields,
  requiresVersion: true,
  generation: true,
  onCreate: dropUnsupported,
  onUpdate: dropUnsupported,
  rules: [immutableFields],
  warnings: tokenWarnings,
  columns: ({ text, flag }) => [
    name,
    flag('AttachRequired', 'Whether volumes are attached before they are mounted.', ({ spec }) => {
      return spec?.attachRequired ?? true;
    }),
    flag(
      'PodInfoOnMount',
      'Whether the driver receives information about the pod.',
      ({ spec }) => spec?.podInfoOnMount ?? false,
    ),
    flag(
      'StorageCapacity',
      'Whether the driver reports storage capacity.',
      ({ spec }) => spec?.storageCapacity ?? false,
    ),
    text('TokenRequests', 'Audiences of the tokens the driver receives.', ({ spec }) => {
      return spec?.tokenRequests?.map(({ audience }) => audience).join(',') ?? UNSET;
    }),
    flag('RequiresRepublish', 'Whether mounted volumes are republished periodically.', ({ spec }) => {
      return spec?.requiresRepublish ?? false;
    }),
    text('Modes', 'Supported lifecycle modes of volumes.', ({ spec }) => spec?.volumeLifecycleModes?.join(',') || NONE),
    age,
  ],
});

function dropUnsupported({ spec }: CSIDriver): void {
  delete spec.preventPodSchedulingIfMissing;
}

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

function tokenRequestsAreValid(requests: readonly TokenRequest[]): FieldError[] {
  const seen = new Set<string>();
  return requests.flatMap(({ audience, expirationSeconds: seconds = MIN_TOKEN_SECONDS }, index) => {
    if (seen.has(audience)) return [duplicate(`[${index}].audience`, audience)];
    seen.add(audience);
    const field = `[${index}].expirationSeconds`;
    if (seconds < MIN_TOKEN_SECONDS)
      return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
    return seconds > MAX_TOKEN_SECONDS
      ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : [];
  });
}

function knownModes(modes: readonly string[]): FieldError[] {
  return modes.filter((mode) => !lifecycleModes.includes(mode)).map((mode) => notSupported('', mode, lifecycleModes));
}

function tokensInSecretsNeedRequests({ serviceAccountTokenInSecrets: given, tokenRequests }: CSIDriverSpec) {
  if (given === undefined || tokenRequests) return undefined;
  const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
  return invalid('serviceAccountTokenInSecrets', given, detail);
}

/** The misspelled path attachedRequired is that of Kubernetes. */
function immutableFields({ spec }: CSIDriver, { oldRoot }: RuleContext<CSIDriver, CSIDriver>): FieldError[] {
  const old = oldRoot?.spec;
  if (!old) return [];
  const found: FieldError[] = [];
  if (spec.attachRequired !== old.attachRequired) {
    found.push(invalid('spec.attachedRequired', spec.attachRequired, 'field is immutable'));
  }
  if (!deepEqual(spec.volumeLifecycleModes, old.volumeLifecycleModes)) {
    found.push(invalid('spec.volumeLifecycleModes', spec.volumeLifecycleModes, 'field is immutable'));
  }
  return found;
}

const TOKENS_IN_CONTEXT_WARNING =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

function tokenWarnings({ spec }: CSIDriver, old: CSIDriver | undefined): string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = spec;
  if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
  return old && deepEqual(old.spec.tokenRequests, tokenRequests) ? [] : [TOKENS_IN_CONTEXT_WARNING];
}
