/** Values that a pod takes from its own object: fields, and the resources of its containers. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import type { ObjectType, Rule } from '../../../schema/schema.ts';

const fieldSelector = { apiVersion: s.string({ default: 'v1' }), fieldPath: s.string({ required: true }) };
type ObjectFieldSelector = ObjectType<typeof fieldSelector>;

const resourceSelector = {
  containerName: s.string({ omitZero: true }),
  resource: s.string({ zero: true }),
  divisor: s.quantity({ default: '0' }),
};
type ResourceFieldSelector = ObjectType<typeof resourceSelector>;

/** In the environment: fields that have one value. */
export const EnvFieldSelector = s.object('ObjectFieldSelector', fieldSelector, {
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

/** In a file: also all labels and all annotations. */
export const FileFieldSelector = s.object('ObjectFieldSelector', fieldSelector, {
  atomic: true,
  rules: [
    fieldPath(['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid']),
  ],
});

export const EnvResourceSelector = s.object('ResourceFieldSelector', resourceSelector, {
  atomic: true,
  rules: [resource],
});

/** A file belongs to no container, so it has to name one. */
export const FileResourceSelector = s.object('ResourceFieldSelector', resourceSelector, {
  atomic: true,
  rules: [
    (selector: ResourceFieldSelector) =>
      selector.containerName ? resource(selector) : [required('containerName'), ...divisor(selector)],
  ],
});

/** Fields that can be named at all, whether or not they can be used in a given place. */
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
    const subscript = /^(.+?)\['(.*)'\]$/.exec(path);
    if (subscript) {
      const [, field, key = ''] = subscript;
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

/** What a resource can be counted in. */
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
