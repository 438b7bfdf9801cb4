import { s } from '../../../schema/builders.ts';
import { dnsSubdomain, pathSegment } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { NONE, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { canonicalIpProblems } from '../../shapes/meta/addresses/canonical-ip.ts';

const ParentReference = s.object('ParentReference', 'Names the object an address is allocated to.', {
  group: s.string('API group of the object. Empty means the core group.', {
    omitZero: true,
    rules: [matches(dnsSubdomain)],
  }),
  resource: s.string('Resource of the object, by plural name, such as services. Required.', {
    omitZero: true,
    required: true,
    rules: [matches(pathSegment)],
  }),
  name: s.string('Name of the object. Required.', { omitZero: true, required: true, rules: [matches(pathSegment)] }),
  namespace: s.string('Namespace of the object. Empty for cluster-scoped objects.', {
    omitZero: true,
    rules: [matches(pathSegment)],
  }),
});

export const IP_FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family';
export const IP_MANAGER_LABEL = 'ipaddress.kubernetes.io/managed-by';
/** Manager of the addresses allocated to Services, as their label names it. */
export const IP_ALLOCATOR = 'ipallocator.k8s.io';

/** An allocated IP address of a Service. */
export const IPAddress = defineKind({
  kind: 'IPAddress',
  plural: 'ipaddresses',
  short: ['ip'],
  scope: 'Cluster',
  description:
    'Records which object an IP address of a Service is allocated to. The name of the object is the address, in canonical form.',
  versions: { 'networking.k8s.io/v1': {} },
  fields: {
    spec: s.object(
      'IPAddressSpec',
      'What the address is used for.',
      {
        parentRef: s.use(
          ParentReference,
          'The object the address is allocated to, usually a Service. Required; cannot be changed.',
          { required: true, immutable: true },
        ),
      },
      { zero: true },
    ),
  },
  name: canonicalIpProblems,
  columns: ({ text }) => [name, text('ParentRef', 'The object the address is allocated to.', parentText)],
});
export type IPAddress = ObjectOf<typeof IPAddress>;

function parentText({ spec }: Sparse<{ spec: { parentRef: TypeOf<typeof ParentReference> } }>): string {
  const parent = spec?.parentRef;
  if (!parent) return NONE;
  const { group, resource = '', namespace, name: parentName = '' } = parent;
  const kind = (group ? `${resource}.${group}` : resource).toLowerCase();
  return [kind, namespace, parentName].filter(Boolean).join('/');
}
