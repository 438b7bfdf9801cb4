/** Schema of a custom resource definition. */
import { s } from '../../../../schema/builders.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import type { KubeObject } from '../../../kind.ts';
import { JSONSchemaProps } from './json-schema-props.ts';

const names = {
  plural: s.string('Name of the resource in paths, in lower case, such as backups.', { zero: true }),
  singular: s.string('Name of one object, for the command line. Defaults to the kind in lower case.'),
  shortNames: s.list(s.string(), 'Abbreviations of the name, for the command line.'),
  kind: s.string('Kind of the objects, in CamelCase, such as Backup.', { zero: true }),
  listKind: s.string('Kind of lists of the objects. Defaults to the kind with `List` behind it.'),
  categories: s.list(s.string(), 'Groups of resources that the kind belongs to, such as all (`kubectl get all`).'),
};

const Names = s.object('CustomResourceDefinitionNames', 'The names of a custom kind.', names);

const Validation = s.object('CustomResourceValidation', 'What objects of a version look like.', {
  openAPIV3Schema: s.lazy(
    () => JSONSchemaProps,
    'Structural schema of the objects. Unknown fields of objects are dropped.',
  ),
});

const Subresources = s.object('CustomResourceSubresources', 'Subresources of a version: status and scale.', {
  status: s.object(
    'CustomResourceSubresourceStatus',
    'Serves the status at a path of its own (`/status`), and nowhere else.',
    {},
    { published: () => ({ description: 'Serves the status at a path of its own.', type: 'object' }) },
  ),
  scale: s.object('CustomResourceSubresourceScale', 'Serves the number of replicas at `/scale`.', {
    specReplicasPath: s.string('Path of the desired replicas, below `.spec`.', { zero: true }),
    statusReplicasPath: s.string('Path of the observed replicas, below `.status`.', { zero: true }),
    labelSelectorPath: s.string(
      'Path of a label selector as a string, below `.spec` or `.status`. Autoscalers need it.',
    ),
  }),
});

const Column = s.object('CustomResourceColumnDefinition', 'A column of the table that `kubectl get` shows.', {
  name: s.string('Heading of the column.', { zero: true }),
  type: s.string('Type of the cells: boolean, date, integer, number or string.', { zero: true }),
  format: s.string('Format of the cells, such as int32, byte or date-time.'),
  description: s.string('What the column shows, for people.'),
  priority: s.int32('From 1 on, the column is shown in wide tables only (`-o wide`).'),
  jsonPath: s.string('Path of the value in an object, such as `.spec.size`.', { zero: true }),
});

const Version = s.object('CustomResourceDefinitionVersion', 'A version of a custom kind.', {
  name: s.string('Name of the version, such as v1 or v2beta1.', { zero: true }),
  served: s.boolean('Whether clients can use the version.', { zero: true }),
  storage: s.boolean('Whether objects are stored in it. True for exactly one version.', { zero: true }),
  deprecated: s.boolean('Whether clients that use the version are warned.'),
  deprecationWarning: s.string('The warning, instead of the usual one.', { keepEmpty: true }),
  schema: s.use(Validation, 'Schema of the objects: what is validated, dropped and filled in.'),
  subresources: s.use(Subresources, 'Subresources that the version has.'),
  additionalPrinterColumns: s.list(Column, 'Columns of tables beside the name. Without any, the age is shown.'),
  selectableFields: s.list(
    s.object('SelectableField', 'A field that field selectors can use.', {
      jsonPath: s.string('Path of a string, boolean or integer, such as `.spec.size`.', { zero: true }),
    }),
    'Fields that field selectors can use, at most 8.',
  ),
});

const Conversion = s.object('CustomResourceConversion', 'How objects are converted between versions.', {
  strategy: s.string('`None` changes the apiVersion only; `Webhook` asks a webhook. Defaults to None.', { zero: true }),
  webhook: s.object('WebhookConversion', 'The webhook that converts objects. Required with the strategy Webhook.', {
    clientConfig: s.object('WebhookClientConfig', 'How the webhook is called.', {
      url: s.string('Address of the webhook. Excludes service.'),
      service: s.object('ServiceReference', 'Service of the cluster that is the webhook. Excludes url.', {
        namespace: s.string('Namespace of the service.', { zero: true }),
        name: s.string('Name of the service.', { zero: true }),
        path: s.string('Path that requests are sent to.'),
        port: s.int32('Port of the service. Defaults to 443.', { default: 443 }),
      }),
      caBundle: s.bytes('Authorities that vouch for the certificate of the webhook, as PEM.'),
    }),
    conversionReviewVersions: s.list(
      s.string(),
      'Versions of ConversionReview that the webhook understands, preferred first.',
      { zero: true },
    ),
  }),
});

/** The fields of a definition besides those that every object has. */
export const definitionFields = {
  spec: s.object(
    'CustomResourceDefinitionSpec',
    'Desired state of the definition.',
    {
      group: s.string('API group of the objects, such as stable.example.com.', { zero: true }),
      names: s.use(Names, 'Names of the kind. It is served once they are accepted.', { zero: true }),
      scope: s.string('`Namespaced`, or `Cluster` for objects without a namespace.', { zero: true }),
      versions: s.list(Version, 'All versions of the kind.', { zero: true }),
      conversion: s.use(Conversion, 'How versions are converted.', { default: { strategy: 'None' } }),
      preserveUnknownFields: s.boolean('Must be false or absent: schemas say which unknown fields are kept.'),
    },
    { zero: true },
  ),
  status: s.struct('CustomResourceDefinitionStatus', 'Observed state of the definition. Read-only.', {
    conditions: s.list(
      s.object('CustomResourceDefinitionCondition', 'One aspect of the observed state of a definition.', {
        type: s.string('Established, NamesAccepted, Terminating or another one.', { zero: true }),
        status: s.string('Whether the condition holds: True, False or Unknown.', { zero: true }),
        lastTransitionTime: s.time('Time at which the status last changed.'),
        reason: s.string('Machine-readable cause of the last change, in one word.'),
        message: s.string('Explanation of the last change for people.'),
        observedGeneration: s.int64('metadata.generation that the condition was computed from.'),
      }),
      'Whether the kind is served, and why not.',
      { list: 'map', keys: ['type'] },
    ),
    acceptedNames: s.use(Names, 'Names under which the kind is served.', { default: {}, pointer: true }),
    storedVersions: s.list(
      s.string(),
      'Versions in which objects may be stored. A version can be removed from spec.versions when it is removed here, after all objects have been rewritten.',
    ),
    observedGeneration: s.int64('metadata.generation that the status was computed from.'),
  }),
};

export type CustomResourceDefinition = KubeObject & ObjectType<typeof definitionFields>;
export type CustomResourceVersion = CustomResourceDefinition['spec']['versions'][number];
