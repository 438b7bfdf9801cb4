import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, domainPrefixedPath, pathSegment } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, NONE, nameAndDefault } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const MAX_CONTROLLER_BYTES = 250;
const scopes = ['Cluster', 'Namespace'];

const parameters = {
  apiGroup: s.string('API group of the object. Empty means the core group.'),
  kind: s.string('Kind of the object. Required.', { zero: true, required: true, rules: [matches(pathSegment)] }),
  name: s.string('Name of the object. Required.', { zero: true, required: true, rules: [matches(pathSegment)] }),
  scope: s.string(
    'Whether the object is cluster-scoped (`Cluster`) or in a namespace (`Namespace`). Defaults to Cluster.',
    { default: 'Cluster' },
  ),
  namespace: s.string('Namespace of the object. Required for scope Namespace; must not be set for scope Cluster.'),
};

const IngressClassParametersReference = s.object(
  'IngressClassParametersReference',
  'An object with further settings of a class.',
  parameters,
  { rules: [reference] },
);

/** A class of Ingresses, and the controller that implements it. */
export const IngressClass = defineKind({
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
  description:
    'A class of Ingresses and the controller that implements it. An Ingress chooses its class with ingressClassName; the class annotated with ingressclass.kubernetes.io/is-default-class is used for new Ingresses that choose none.',
  versions: { 'networking.k8s.io/v1': {} },
  fields: {
    spec: s.struct('IngressClassSpec', 'The controller of the class and its settings.', {
      controller: s.string(
        'Name of the controller that implements the class, as a domain-prefixed path of at most 250 characters such as example.com/ingress-controller. Required; cannot be changed.',
        {
          omitZero: true,
          required: true,
          immutable: true,
          rules: [
            (name: string) =>
              Buffer.byteLength(name) > MAX_CONTROLLER_BYTES ? tooLong('', MAX_CONTROLLER_BYTES) : undefined,
            matches(domainPrefixedPath),
          ],
        },
      ),
      parameters: s.use(
        IngressClassParametersReference,
        'Object with further settings for the controller, such as a custom resource of its own.',
      ),
    }),
  },
  generation: true,
  columns: ({ text }) => [
    nameAndDefault('ingressclass.kubernetes.io/is-default-class'),
    text('Controller', 'The controller that implements the class.', ({ spec }) => spec?.controller ?? ''),
    text('Parameters', 'Object with further settings.', ({ spec }) => {
      const { kind, apiGroup, name } = spec?.parameters ?? {};
      return spec?.parameters ? `${kind}${apiGroup ? `.${apiGroup}` : ''}/${name}` : NONE;
    }),
    age,
  ],
});
export type IngressClass = ObjectOf<typeof IngressClass>;

function reference({ apiGroup, scope, namespace }: ObjectType<typeof parameters>): FieldError[] {
  const found: FieldError[] = [];
  if (apiGroup !== undefined) {
    for (const problem of dnsSubdomain(apiGroup)) found.push(invalid('apiGroup', apiGroup, problem));
  }
  if (!scopes.includes(scope)) return [...found, notSupported('scope', scope, scopes)];
  if (scope === 'Cluster') {
    if (namespace !== undefined) found.push(forbidden('namespace', "`parameters.scope` is set to 'Cluster'"));
  } else if (namespace === undefined) {
    found.push(required('namespace', "`parameters.scope` is set to 'Namespace'"));
  } else {
    for (const problem of dnsLabel(namespace)) found.push(invalid('namespace', namespace, problem));
  }
  return found;
}
