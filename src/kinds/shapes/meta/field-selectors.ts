/** Selectors of the downward API: fields of the pod, and resources of its containers. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import type { ObjectType, Rule } from '../../../schema/schema.ts';

const fieldSelector = {
  apiVersion: s.string('API version that fieldPath is written for. Defaults to v1.', { default: 'v1' }),
  fieldPath: s.string("Path of the field, such as metadata.name, metadata.labels['app'] or status.podIP.", {
    required: true,
  }),
};
type ObjectFieldSelector = ObjectType<typeof fieldSelector>;

const resourceSelector = {
  containerName: s.string(
    'Container to read from. Defaults to the container itself in environment variables; required in volumes.',
    { omitZero: true },
  ),
  resource: s.string('Resource to read, such as limits.cpu or requests.memory.', { zero: true }),
  divisor: s.quantity(
    'Unit of the value: the quantity is divided by it and rounded up, as in 1Mi for memory or 1m for cpu. ' +
      'Defaults to 1.',
    { default: '0' },
  ),
};
type ResourceFieldSelector = ObjectType<typeof resourceSelector>;

/** Field selector of environment variables: fields with a single value. */
export const EnvFieldSelector = s.object('ObjectFieldSelector', 'Selects a field of the pod.', fieldSelector, {
  atomic: true,
  rules: [
    fieldPath([
      'metadata.name',
      'metadata.namespace',
      'metadata.uid',
      'spec.nodeName',
      'spec.serviceAccountName',
      'status.hostIP',
      'status.hostIPs',
      'status.podIP',
      'status.podIPs',
    ]),
  ],
});

/** Field selector of files: also all labels and all annotations. */
export const FileFieldSelector = s.object('ObjectFieldSelector', 'Selects a field of the pod.', fieldSelector, {
  atomic: true,
  rules: [
    fieldPath(['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid']),
  ],
});

export const EnvResourceSelector = s.object(
  'ResourceFieldSelector',
  'Selects a resource request or limit of a container, such as limits.cpu or requests.memory.',
  resourceSelector,
  { atomic: true, rules: [resource] },
);

/** Resource selector of files, which belong to no container and must name one. */
export const FileResourceSelector = s.object(
  'ResourceFieldSelector',
  'Selects a resource request or limit of a container, such as limits.cpu or requests.memory.',
  resourceSelector,
  {
    atomic: true,
    rules: [
      (selector: ResourceFieldSelector) =>
        selector.containerName ? resource(selector) : [required('containerName'), ...divisor(selector)],
    ],
  },
);

/** Fields that a selector can name at all; which of them are allowed depends on its use. */
const knownFields = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

function fieldPath(supported: readonly string[]): Rule<ObjectFieldSelector> {
  const wrong = (path: string, detail: string) => invalid('fieldPath', path, `error converting fieldPath: ${detail}`);
  return ({ apiVersion, fieldPath: path }) => {
    if (!path) return undefined;
    if (apiVersion !== 'v1') return wrong(path, `unsupported pod version: ${apiVersion}`);
    const start = path.indexOf("['", 1);
    if (start > 0 && path.length >= start + "['']".length && path.endsWith("']")) {
      const field = path.slice(0, start);
      const key = path.slice(start + 2, -2);
      if (field === 'metadata.labels') return qualifiedName(key).map((complaint) => invalid('', key, complaint));
      if (field !== 'metadata.annotations') return wrong(path, `field label does not support subscript: ${path}`);
      const lower = key.toLowerCase();
      return qualifiedName(lower).map((complaint) => invalid('', lower, complaint));
    }
    const field = path === 'spec.host' ? 'spec.nodeName' : path;
    if (!knownFields.has(field)) return wrong(path, `field label not supported: ${path}`);
    return supported.includes(field) ? undefined : notSupported('fieldPath', field, supported);
  };
}

const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const hugePages = /^(limits|requests)\.hugepages-/;

function resource(selector: ResourceFieldSelector): FieldError[] {
  const { resource: name } = selector;
  if (!name) return [required('resource')];
  const found = divisor(selector);
  if (!resources.includes(name) && !hugePages.test(name)) found.unshift(notSupported('resource', name, resources));
  return found;
}

const bytes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** The units in which a resource can be expressed. */
const divisors: Readonly<Record<string, { units: readonly string[]; words: string }>> = {
  cpu: { units: ['1m', '1'], words: '1m and 1 are supported with the cpu resource' },
  memory: { units: bytes, words: `${bytes.join(', ')} are supported with the memory resource` },
  'ephemeral-storage': {
    units: bytes,
    words: `${bytes.join(', ')} are supported with the local ephemeral storage resource`,
  },
  hugepages: { units: bytes, words: `${bytes.join(', ')} are supported with the hugepages resource` },
};

function divisor({ resource: name, divisor: unit }: ResourceFieldSelector): FieldError[] {
  if (unit === '0') return [];
  const kind = hugePages.test(name) ? 'hugepages' : name.slice(name.indexOf('.') + 1);
  const known = Object.hasOwn(divisors, kind) ? divisors[kind] : undefined;
  if (!known || known.units.includes(unit)) return [];
  return [invalid('divisor', name, `only divisor's values ${known.words}`)];
}
