import { deepEqual } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, flag, NONE, name, text, UNSET } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';

const lifecycleModes = ['Persistent', 'Ephemeral'];

const tokenRequest = {
  audience: s.string({ zero: true, description: 'Whom the token is for; where empty, the API server.' }),
  expirationSeconds: s.int64({ description: 'How long it is good for.' }),
};
type TokenRequest = ObjectType<typeof tokenRequest>;

const spec = {
  attachRequired: s.boolean({
    default: true,
    description: 'A volume must be attached to a node before it can be mounted there. Cannot be changed.',
  }),
  podInfoOnMount: s.boolean({ default: false, description: 'The driver is told which pod it mounts a volume for.' }),
  storageCapacity: s.boolean({
    default: false,
    description: 'The scheduler looks at how much storage the driver says is left.',
  }),
  fsGroupPolicy: s.enum(['File', 'None', 'ReadWriteOnceWithFSType'], {
    default: 'ReadWriteOnceWithFSType',
    description:
      "Whether a pod's fsGroup is given to the files of a volume: always (File), never (None), or where it is mounted by one node and has a file system.",
  }),
  tokenRequests: s.list(s.object('TokenRequest', tokenRequest), {
    description: "Tokens of the pod's service account that the driver gets with a mount.",
    rules: [tokens],
  }),
  volumeLifecycleModes: s.set(s.string(), {
    default: ['Persistent'],
    description:
      'Persistent for volumes that claims ask for, Ephemeral for those that a pod describes itself. Cannot be changed.',
    rules: [knownModes],
  }),
  requiresRepublish: s.boolean({ default: false, description: 'The driver wants to be called again and again.' }),
  seLinuxMount: s.boolean({ default: false, description: 'Its volumes can be mounted with an SELinux context.' }),
  nodeAllocatableUpdatePeriodSeconds: s.int64({
    description: 'How often a node asks the driver anew how many volumes it can take; never where absent.',
    rules: [
      (seconds: number) =>
        seconds < 10 ? invalid('', seconds, 'must be greater than or equal to 10 seconds') : undefined,
    ],
  }),
  serviceAccountTokenInSecrets: s.boolean({ description: 'The tokens are passed as secrets, not as plain context.' }),
  preventPodSchedulingIfMissing: s.boolean({ description: 'Not in use yet; what is written here is dropped.' }),
};
type CSIDriverSpec = ObjectType<typeof spec>;

const fields = { spec: s.object('CSIDriverSpec', spec, { zero: true, rules: [tokensAreAskedFor] }) };

export type CSIDriver = KubeObject & ObjectType<typeof fields>;

/** How the cluster works with a storage driver. */
export const CSIDriver = defineKind({
  group: 'storage.k8s.io',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
  description: 'How the cluster works with the storage driver of this name: what it needs, and what it can do.',
  versions: { 'storage.k8s.io/v1': {} },
  fields,
  requiresVersion: true,
  generation: true,
  onCreate: dropUnused,
  onUpdate: dropUnused,
  rules: [isKept],
  warnings: tokenWarnings,
  columns: [
    name,
    flag('AttachRequired', 'Whether volumes are attached before they are mounted.', ({ spec }) => {
      return spec?.attachRequired ?? true;
    }),
    flag('PodInfoOnMount', 'Whether it learns which pod a volume is for.', ({ spec }) => spec?.podInfoOnMount ?? false),
    flag('StorageCapacity', 'Whether it tells how much room is left.', ({ spec }) => spec?.storageCapacity ?? false),
    text('TokenRequests', 'For whom it gets tokens of the pods.', ({ spec }) => {
      return spec?.tokenRequests?.map(({ audience }: any) => audience).join(',') ?? UNSET;
    }),
    flag('RequiresRepublish', 'Whether it wants to be called again and again.', ({ spec }) => {
      return spec?.requiresRepublish ?? false;
    }),
    text('Modes', 'What its volumes belong to.', ({ spec }) => spec?.volumeLifecycleModes?.join(',') || NONE),
    age,
  ],
});

function dropUnused({ spec }: CSIDriver): void {
  delete spec.preventPodSchedulingIfMissing;
}

const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

function tokens(requests: readonly TokenRequest[]): FieldError[] {
  const seen = new Set<string>();
  return requests.flatMap(({ audience, expirationSeconds: seconds = MIN_SECONDS }, index) => {
    if (seen.has(audience)) return [duplicate(`[${index}].audience`, audience)];
    seen.add(audience);
    const field = `[${index}].expirationSeconds`;
    if (seconds < MIN_SECONDS) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
    return seconds > MAX_SECONDS
      ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : [];
  });
}

function knownModes(modes: readonly string[]): FieldError[] {
  return modes.filter((mode) => !lifecycleModes.includes(mode)).map((mode) => notSupported('', mode, lifecycleModes));
}

function tokensAreAskedFor({ serviceAccountTokenInSecrets: given, tokenRequests }: CSIDriverSpec) {
  if (given === undefined || tokenRequests) return undefined;
  const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
  return invalid('serviceAccountTokenInSecrets', given, detail);
}

/** The first path is how the API has always written it. */
function isKept({ spec }: CSIDriver, { oldRoot }: RuleContext): FieldError[] {
  const old: CSIDriverSpec | undefined = oldRoot?.spec;
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

const TOKENS_IN_VOLUMES =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

function tokenWarnings({ spec }: any, old: any): string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = spec;
  if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
  return old && deepEqual(old.spec.tokenRequests, tokenRequests) ? [] : [TOKENS_IN_VOLUMES];
}
