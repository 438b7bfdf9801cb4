/** Expected differences between our answers and those of Kubernetes 1.7, with the reason. */
import { expectedDiscovery } from './discovery.ts';

interface Answer {
  readonly code: number;
  readonly type?: string | null | undefined;
  readonly body: any;
}

interface Difference {
  readonly reason: string;
  readonly code?: number;
  readonly type?: string;
  /** Derives the expected answer from the observed one; undefined: not compared. */
  readonly body?: (observed: any, answer: any) => any;
}

const status = (code: number, reason: string, message: string, more: object = {}) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  ...more,
  code,
});

const success = (details: object, more: object = {}) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  ...more,
  details,
  code: 200,
});

/** `Pod "x" is invalid: field: message`, and the same as a cause. */
const invalid = (kind: string, name: string, cause: { reason: string; message: string; field: string }) => {
  const [word = '', group] = kind.split(/\.(.*)/);
  return status(422, 'Invalid', `${kind} "${name}" is invalid: ${cause.field}: ${cause.message}`, {
    details: { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: word, causes: [cause] },
  });
};

/** Words that changed everywhere. */
const REWRITES: readonly { reason: string; from: RegExp; to: string | ((...parts: string[]) => string) }[] = [
  {
    reason: 'deployments are of the group apps; extensions is another way to them',
    from: /(deployments|Scale|DeploymentRollback)\.extensions|"group":"extensions"/g,
    to: (whole) => whole.replace('extensions', 'apps'),
  },
  {
    reason: '1.36 names the RFC',
    from: /a DNS-1123 subdomain/g,
    to: 'a lowercase RFC 1123 subdomain',
  },
  {
    reason: '1.36 quotes supported values',
    from: /supported values: ([A-Za-z, ]+)/g,
    to: (_, list = '') => `supported values: ${list.replace(/\w+/g, '\\"$&\\"')}`,
  },
  {
    reason: '1.36 shows values as JSON',
    from: /intstr\.IntOrString\{Type:(\d), IntVal:(\d+), StrVal:\\"(\w*)\\"\}/g,
    to: (_, type, number, text) => (type === '0' ? number! : `\\"${text}\\"`),
  },
  { reason: '1.36 shows values as JSON', from: /map\[string\]string\(nil\)/g, to: 'null' },
  { reason: '1.36 shows values as JSON', from: /map\[string\]string(\{[^}]*\})/g, to: '$1' },
  { reason: '1.36 ends the sentence without a dot', from: /minReadySeconds\./g, to: 'minReadySeconds' },
];

const EXPORTED = 'an export has nothing that a client cannot set';

const exported = ({ status: _, ...object }: any) => {
  const { selfLink: _link, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
};

/** Differences that pods and deployments have in common. */
function both(prefix: string, kind: string, group: string | undefined): Record<string, Difference> {
  const plural = `${kind.toLowerCase()}s`;
  const named = group === undefined ? {} : { group };
  return {
    [`${prefix}-create-wrongkind`]: {
      reason: '1.36 tells another cause of the same failure',
      body: (body) => ({
        ...body,
        message: body.message.replace(
          /converting .*/,
          `converting (v1.ConfigMap) to (${group ?? 'core'}.${kind}): unknown conversion`,
        ),
      }),
    },
    [`${prefix}-get-export`]: { reason: EXPORTED, body: exported },
    [`${prefix}-get-exact`]: { reason: EXPORTED, body: exported },
    [`${prefix}-create-media`]: {
      reason: 'the list of media types is that of this server',
      body: (body) => ({
        ...body,
        message: body.message.replace(
          /include: .*/,
          'include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
        ),
      }),
    },
    [`${prefix}-patch-media`]: {
      reason: '1.36 answers a reason and the media types that it takes',
      body: () =>
        status(
          415,
          'UnsupportedMediaType',
          'the body of the request was in an unknown format - accepted media types include: ' +
            'application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml',
        ),
    },
    [`${prefix}-patch-json-bad`]: {
      reason: 'a failed test is the fault of the request, as in 1.36; the message says which, as in 1.7',
      code: 422,
      body: () => status(422, 'Invalid', 'testing value /metadata/name failed: test failed', { details: {} }),
    },
    [`${prefix}-watch-old`]: {
      reason: 'a malformed parameter is a bad request',
      code: 400,
      body: ({ message }) => status(400, 'BadRequest', message),
    },
    [`${prefix}-delete-both`]: {
      reason: '1.36 names the field',
      body: () =>
        invalid('DeleteOptions.meta.k8s.io', '', {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
          field: 'propagationPolicy',
        }),
    },
    [`${prefix}-delete-badpolicy`]: {
      reason: '1.36 names the field',
      body: () =>
        invalid('DeleteOptions.meta.k8s.io', '', {
          reason: 'FieldValueNotSupported',
          message: 'Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
          field: 'propagationPolicy',
        }),
    },
    [`${prefix}-delete`]: {
      reason: 'the specification: a delete answers a Status with its code',
      body: ({ metadata, details }) =>
        success({ name: 'a', ...named, kind: plural, uid: details?.uid ?? metadata.uid }),
    },
    [`${prefix}-deletecollection`]: {
      reason: 'the specification: a delete answers a Status',
      body: () => success({ ...named, kind: plural }),
    },
    [`${prefix}-list-all`]: {
      reason: 'the run that was observed left objects of another one in the list',
      body: (body) => ({ ...body, items: body.items.filter(({ metadata }: any) => metadata.namespace === 'NS') }),
    },
  };
}

const forPods: Record<string, Difference> = {
  ...both('pod', 'Pod', undefined),
  'pod-neggrace': {
    reason: 'the design: grace periods are not negative',
    code: 422,
    body: () =>
      invalid('Pod', 'ngr', {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: -1: must be greater than or equal to 0',
        field: 'spec.terminationGracePeriodSeconds',
      }),
  },
  'pod-baddns': {
    reason: '1.36 knows one more policy',
    body: (body) => JSON.parse(JSON.stringify(body).replaceAll('\\"Default\\"', '\\"Default\\", \\"None\\"')),
  },
  'pod-init': {
    reason: 'the annotations that init containers once lived in are gone since 1.8',
    body: (body) => withoutInitAnnotations(body),
  },
  'pod-initprobe': {
    reason: '1.36 forbids it in these words',
    body: () =>
      invalid('Pod', 'ip', {
        reason: 'FieldValueForbidden',
        message: 'Forbidden: may not be set for init containers without restartPolicy=Always',
        field: 'spec.initContainers[0].readinessProbe',
      }),
  },
  'pod-badresources': {
    reason: '1.36 blames the request, not the limit',
    body: () =>
      invalid('Pod', 'brs', {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "1": must be less than or equal to cpu limit of 100m',
        field: 'spec.containers[0].resources.requests',
      }),
  },
  'pod-immutable': { reason: '1.36 names more fields and shows what changed', body: () => undefined },
  'pod-fieldsel-node': {
    reason: 'the pod with a negative grace period does not exist here, and see pod-init',
    body: (body) => ({
      ...body,
      items: body.items.filter(({ metadata }: any) => metadata.name !== 'ngr').map(withoutInitAnnotations),
    }),
  },
  'pod-bind': {
    reason: 'the specification: success is 200; our Status names its object',
    body: () => success({ name: 'tagged', kind: 'pods' }),
  },
  'pod-delete-graceful': {
    reason: 'the specification: a delete answers a Status',
    body: ({ metadata }) => success({ name: 'tagged', kind: 'pods', uid: metadata.uid }),
  },
};

const forDeployments: Record<string, Difference> = {
  ...both('deploy', 'Deployment', 'apps'),
  'deploy-list-field-bad': {
    reason: '1.36 lists the selectors that there are',
    body: () =>
      status(
        400,
        'BadRequest',
        '"spec.nope" is not a known field selector: only "metadata.name", "metadata.namespace"',
      ),
  },
  'deploy-recreate-ru': {
    reason: 'in 1.7 decoding failed; 1.36 says what is wrong',
    code: 422,
    body: () =>
      invalid('Deployment.apps', 'rr', {
        reason: 'FieldValueForbidden',
        message: "Forbidden: may not be specified when strategy `type` is 'Recreate'",
        field: 'spec.strategy.rollingUpdate',
      }),
  },
  'deploy-ext': {
    reason: 'the annotations of a rollback are remembered until it is done',
    body: (body) => {
      const name = 'deprecated.deployment.rollback.updated-annotations';
      const annotations = { ...body.metadata.annotations, [name]: '["why"]' };
      return { ...body, metadata: { ...body.metadata, annotations } };
    },
  },
  'deploy-rollback': {
    reason: '1.7 called a success a failure; our Status names its object',
    body: ({ message }) => success({ name: 'full', group: 'apps', kind: 'deployments' }, { message }),
  },
};

const forServices: Record<string, Difference> = {
  'svc-ip-immutable': {
    reason: '1.36 looks at clusterIPs',
    body: () =>
      invalid('Service', 'one', {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: ["10.97.200.200"]: may not change once set',
        field: 'spec.clusterIPs[0]',
      }),
  },
};

const forDiscovery: Record<string, Difference> = Object.fromEntries(
  ['disc-apis', 'disc-v1', 'disc-batch', 'disc-ext', 'disc-apps'].map((name) => [
    name,
    { reason: 'our kinds and versions are others', body: expectedDiscovery },
  ]),
);

const differences: Readonly<Record<string, Difference>> = {
  ...forPods,
  ...forDeployments,
  ...forServices,
  ...forDiscovery,
  'pod-log-unscheduled': {
    reason: 'the specification: success is 200, and a log that is empty is one',
    code: 200,
    type: 'text/plain',
  },
  'secret-badb64': {
    reason: 'the position was that of a decoder that 1.36 has not',
    body: (body) => ({ ...body, message: body.message.replace(/\[pos.*: illegal/, 'illegal') }),
  },
};

/** Returns the expected answer to a case. */
export function expectedOf(name: string, observed: Answer, answer: Answer): Answer {
  const difference = differences[name];
  // The specification: success is 200, for creates too.
  const code = difference?.code ?? (observed.code === 201 ? 200 : observed.code);
  const text = JSON.stringify(observed.body);
  const rewritten = JSON.parse(
    observed.body.kind === 'Status'
      ? REWRITES.reduce((all, { from, to }) => all.replace(from, to as string), text)
      : text,
  );
  const type = difference?.type ?? observed.type;
  return { code, type, body: difference?.body ? difference.body(rewritten, answer.body) : rewritten };
}

/** Fields that 1.36 has and 1.7 had not. */
const NEWER = [
  // Managers of fields are kept and shown for every object since 1.18.
  /\bmetadata\.managedFields$/,
  // Pods count their changes since 1.33.
  /^Pod.*\bmetadata\.generation$/,
  /\bspec\.enableServiceLinks$/,
  /^Service.*\bspec\.(internalTrafficPolicy|ipFamilyPolicy|ipFamilies|clusterIPs|allocateLoadBalancerNodePorts)$/,
];

/** `kind` is that of the answer, or of the object in it. */
export function isNewerField(kind: string, path: string): boolean {
  return NEWER.some((pattern) => pattern.test(`${kind}.${path}`));
}

function withoutInitAnnotations(pod: any): any {
  const { annotations, ...metadata } = pod.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => !key.endsWith('/init-containers'));
  return { ...pod, metadata: kept.length > 0 ? { ...metadata, annotations: Object.fromEntries(kept) } : metadata };
}
