/** Schema of a custom resource definition. */
import { s } from '../../../../schema/builders.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import type { KubeObject } from '../../../kind.ts';
import { JSONSchemaProps } from './json-schema-props.ts';

const names = {
  plural: s.string({ zero: true, description: 'Name of the resource in paths, in lower case, such as backups.' }),
  singular: s.string({ description: 'Name of one object, for the command line. Defaults to the kind in lower case.' }),
  shortNames: s.list(s.string(), { description: 'Abbreviations of the name, for the command line.' }),
  kind: s.string({ zero: true, description: 'Kind of the objects, in CamelCase, such as Backup.' }),
  listKind: s.string({ description: 'Kind of lists of the objects. Defaults to the kind with `List` behind it.' }),
  categories: s.list(s.string(), {
    description: 'Groups of resources that the kind belongs to, such as all (`kubectl get all`).',
  }),
};

const Names = s.object('CustomResourceDefinitionNames', names, { description: 'The names of a custom kind.' });

const Validation = s.object(
  'CustomResourceValidation',
  {
    openAPIV3Schema: s.lazy(() => JSONSchemaProps, {
      description: 'Structural schema of the objects. Unknown fields of objects are dropped.',
    }),
  },
  { description: 'What objects of a version look like.' },
);

const Subresources = s.object(
  'CustomResourceSubresources',
  {
    status: s.object(
      'CustomResourceSubresourceStatus',
      {},
      {
        description: 'Serves the status at a path of its own (`/status`), and nowhere else.',
        published: () => ({ description: 'Serves the status at a path of its own.', type: 'object' }),
      },
    ),
    scale: s.object(
      'CustomResourceSubresourceScale',
      {
        specReplicasPath: s.string({ zero: true, description: 'Path of the desired replicas, below `.spec`.' }),
        statusReplicasPath: s.string({ zero: true, description: 'Path of the observed replicas, below `.status`.' }),
        labelSelectorPath: s.string({
          description: 'Path of a label selector as a string, below `.spec` or `.status`. Autoscalers need it.',
        }),
      },
      { description: 'Serves the number of replicas at `/scale`.' },
    ),
  },
  { description: 'Subresources of a version: status and scale.' },
);

const Column = s.object(
  'CustomResourceColumnDefinition',
  {
    name: s.string({ zero: true, description: 'Heading of the column.' }),
    type: s.string({ zero: true, description: 'Type of the cells: boolean, date, integer, number or string.' }),
    format: s.string({ description: 'Format of the cells, such as int32, byte or date-time.' }),
    description: s.string({ description: 'What the column shows, for people.' }),
    priority: s.int32({ description: 'From 1 on, the column is shown in wide tables only (`-o wide`).' }),
    jsonPath: s.string({ zero: true, description: 'Path of the value in an object, such as `.spec.size`.' }),
  },
  { description: 'A column of the table that `kubectl get` shows.' },
);

const Version = s.object(
  'CustomResourceDefinitionVersion',
  {
    name: s.string({ zero: true, description: 'Name of the version, such as v1 or v2beta1.' }),
    served: s.boolean({ zero: true, description: 'Whether clients can use the version.' }),
    storage: s.boolean({ zero: true, description: 'Whether objects are stored in it. True for exactly one version.' }),
    deprecated: s.boolean({ description: 'Whether clients that use the version are warned.' }),
    deprecationWarning: s.string({ keepEmpty: true, description: 'The warning, instead of the usual one.' }),
    schema: s.use(Validation, { description: 'Schema of the objects: what is validated, dropped and filled in.' }),
    subresources: s.use(Subresources, { description: 'Subresources that the version has.' }),
    additionalPrinterColumns: s.list(Column, {
      description: 'Columns of tables beside the name. Without any, the age is shown.',
    }),
    selectableFields: s.list(
      s.object(
        'SelectableField',
        {
          jsonPath: s.string({
            zero: true,
            description: 'Path of a string, boolean or integer, such as `.spec.size`.',
          }),
        },
        { description: 'A field that field selectors can use.' },
      ),
      { description: 'Fields that field selectors can use, at most 8.' },
    ),
  },
  { description: 'A version of a custom kind.' },
);

const Conversion = s.object(
  'CustomResourceConversion',
  {
    strategy: s.string({
      zero: true,
      description: '`None` changes the apiVersion only; `Webhook` asks a webhook. Defaults to None.',
    }),
    webhook: s.object(
      'WebhookConversion',
      {
        clientConfig: s.object(
          'WebhookClientConfig',
          {
            url: s.string({ description: 'Address of the webhook. Excludes service.' }),
            service: s.object(
              'ServiceReference',
              {
                namespace: s.string({ zero: true, description: 'Namespace of the service.' }),
                name: s.string({ zero: true, description: 'Name of the service.' }),
                path: s.string({ description: 'Path that requests are sent to.' }),
                port: s.int32({ default: 443, description: 'Port of the service. Defaults to 443.' }),
              },
              { description: 'Service of the cluster that is the webhook. Excludes url.' },
            ),
            caBundle: s.bytes({ description: 'Authorities that vouch for the certificate of the webhook, as PEM.' }),
          },
          { description: 'How the webhook is called.' },
        ),
        conversionReviewVersions: s.list(s.string(), {
          zero: true,
          description: 'Versions of ConversionReview that the webhook understands, preferred first.',
        }),
      },
      { description: 'The webhook that converts objects. Required with the strategy Webhook.' },
    ),
  },
  { description: 'How objects are converted between versions.' },
);

/** The fields of a definition besides those that every object has. */
export const definitionFields = {
  spec: s.object(
    'CustomResourceDefinitionSpec',
    {
      group: s.string({ zero: true, description: 'API group of the objects, such as stable.example.com.' }),
      names: s.use(Names, { zero: true, description: 'Names of the kind. It is served once they are accepted.' }),
      scope: s.string({ zero: true, description: '`Namespaced`, or `Cluster` for objects without a namespace.' }),
      versions: s.list(Version, { zero: true, description: 'All versions of the kind.' }),
      conversion: s.use(Conversion, { default: { strategy: 'None' }, description: 'How versions are converted.' }),
      preserveUnknownFields: s.boolean({
        description: 'Must be false or absent: schemas say which unknown fields are kept.',
      }),
    },
    { zero: true, description: 'Desired state of the definition.' },
  ),
  status: s.object(
    'CustomResourceDefinitionStatus',
    {
      conditions: s.list(
        s.object(
          'CustomResourceDefinitionCondition',
          {
            type: s.string({ zero: true, description: 'Established, NamesAccepted, Terminating or another one.' }),
            status: s.string({ zero: true, description: 'Whether the condition holds: True, False or Unknown.' }),
            lastTransitionTime: s.time({ description: 'Time at which the status last changed.' }),
            reason: s.string({ description: 'Machine-readable cause of the last change, in one word.' }),
            message: s.string({ description: 'Explanation of the last change for people.' }),
            observedGeneration: s.int64({ description: 'metadata.generation that the condition was computed from.' }),
          },
          { description: 'One aspect of the observed state of a definition.' },
        ),
        { list: 'map', keys: ['type'], description: 'Whether the kind is served, and why not.' },
      ),
      acceptedNames: s.use(Names, { default: {}, pointer: true, description: 'Names under which the kind is served.' }),
      storedVersions: s.list(s.string(), {
        description:
          'Versions in which objects may be stored. A version can be removed from spec.versions when it is removed here, after all objects have been rewritten.',
      }),
      observedGeneration: s.int64({ description: 'metadata.generation that the status was computed from.' }),
    },
    { default: {}, description: 'Observed state of the definition. Read-only.' },
  ),
};

export type CustomResourceDefinition = KubeObject & ObjectType<typeof definitionFields>;
export type CustomResourceVersion = CustomResourceDefinition['spec']['versions'][number];
