import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, domainPrefixedPath, pathSegment } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, NONE, nameAndDefault, text } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const MAX_CONTROLLER = 250;
const scopes = ['Cluster', 'Namespace'];

const parameters = {
  apiGroup: s.string({ description: 'Its group; the core group where absent.' }),
  kind: s.string({ zero: true, required: true, rules: [matches(pathSegment)] }),
  name: s.string({ zero: true, required: true, rules: [matches(pathSegment)] }),
  scope: s.string({ default: 'Cluster', description: 'Whether it is an object of the cluster or of a namespace.' }),
  namespace: s.string({ description: 'With the scope Namespace: which one.' }),
};

const IngressClassParametersReference = s.object('IngressClassParametersReference', parameters, { rules: [reference] });

/** Which program serves an Ingress. */
export const IngressClass = defineKind({
  group: 'networking.k8s.io',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
  description: 'A way to serve Ingresses: those that name it are the business of its controller.',
  versions: { 'networking.k8s.io/v1': {} },
  fields: {
    spec: s.object(
      'IngressClassSpec',
      {
        controller: s.string({
          omitZero: true,
          required: true,
          immutable: true,
          description:
            'The controller that serves the class, such as example.com/ingress-controller. Cannot be changed.',
          rules: [
            (name: string) => (Buffer.byteLength(name) > MAX_CONTROLLER ? tooLong('', MAX_CONTROLLER) : undefined),
            matches(domainPrefixedPath),
          ],
        }),
        parameters: s.use(IngressClassParametersReference, {
          description: 'An object with further settings, which the controller understands.',
        }),
      },
      { default: {} },
    ),
  },
  generation: true,
  columns: [
    nameAndDefault('ingressclass.kubernetes.io/is-default-class'),
    text('Controller', 'Who serves ingresses of this class.', ({ spec }) => spec?.controller ?? ''),
    text('Parameters', 'An object that says more.', ({ spec }) => {
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
