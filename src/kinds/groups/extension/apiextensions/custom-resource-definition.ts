import { createdAt, name } from '../../../columns/column.ts';
import { defineKind } from '../../../kind.ts';
import { beginTermination } from './conditions.ts';
import { type CustomResourceDefinition as Definition, definitionFields } from './definition-fields.ts';
import { definitionErrors } from './definition-rules.ts';

export type CustomResourceDefinition = Definition;

/** Defines a custom kind. */
export const CustomResourceDefinition = defineKind({
  kind: 'CustomResourceDefinition',
  short: ['crd', 'crds'],
  categories: ['api-extensions'],
  scope: 'Cluster',
  description:
    'Defines a custom kind: its names, versions and schemas. The kind is served as soon as its names are accepted. Deleting the definition deletes all objects of the kind.',
  versions: { 'apiextensions.k8s.io/v1': {} },
  fields: definitionFields,
  subresources: { status: true },
  generation: true,
  bareFinalizers: true,
  initialStatus: ({ spec }: Definition) => ({
    acceptedNames: { plural: '', kind: '' },
    storedVersions: spec.versions.flatMap(({ name, storage }) => (storage ? [name] : [])),
  }),
  onCreate: (definition: Definition) => defaultNames(definition),
  onUpdate: (definition: Definition) => {
    defaultNames(definition);
    const { storedVersions = [] } = definition.status;
    const known = new Set(storedVersions);
    const missing = definition.spec.versions.flatMap(({ name, storage }) =>
      storage && !known.has(name) ? [name] : [],
    );
    if (missing.length > 0) {
      definition.status = { ...definition.status, storedVersions: [...storedVersions, ...missing] };
    }
  },
  termination: { begin: beginTermination, isPending: () => false },
  dividedRules: definitionErrors,
  columns: [name, createdAt],
});

function defaultNames({ spec }: Definition): void {
  const { kind, singular, listKind } = spec.names;
  if (!kind || (singular && listKind)) return;
  spec.names = { ...spec.names, singular: singular || kind.toLowerCase(), listKind: listKind || `${kind}List` };
}
