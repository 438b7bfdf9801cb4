import { s } from '../../../schema/builders.ts';
import { dnsSubdomain, pathSegment } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import { NONE, name, text } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { canonicalIpProblems } from '../../shapes/meta/canonical-ip.ts';

const ParentReference = s.object('ParentReference', {
  group: s.string({
    omitZero: true,
    description: 'Its group; the core group where absent.',
    rules: [matches(dnsSubdomain)],
  }),
  resource: s.string({
    omitZero: true,
    required: true,
    description: 'Its resource, such as services.',
    rules: [matches(pathSegment)],
  }),
  name: s.string({ omitZero: true, required: true, rules: [matches(pathSegment)] }),
  namespace: s.string({ omitZero: true, rules: [matches(pathSegment)] }),
});

/** An address of a service that is in use. */
export const IPAddress = defineKind({
  group: 'networking.k8s.io',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  short: ['ip'],
  scope: 'Cluster',
  description: 'An address of a service that is in use, and by whom. Its name is the address.',
  versions: { 'networking.k8s.io/v1': {} },
  fields: {
    spec: s.object(
      'IPAddressSpec',
      {
        parentRef: s.use(ParentReference, {
          required: true,
          immutable: true,
          description: 'The object that uses the address. Cannot be changed.',
        }),
      },
      { zero: true },
    ),
  },
  name: canonicalIpProblems,
  columns: [name, text('ParentRef', 'Who has the address.', parentText)],
});
export type IPAddress = ObjectOf<typeof IPAddress>;

function parentText({ spec }: any): string {
  const parent = spec?.parentRef;
  if (!parent) return NONE;
  const { group, resource = '', namespace, name: parentName = '' } = parent;
  const kind = (group ? `${resource}.${group}` : resource).toLowerCase();
  return [kind, namespace, parentName].filter(Boolean).join('/');
}
