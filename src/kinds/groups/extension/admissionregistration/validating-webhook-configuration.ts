import { s } from '../../../../schema/builders.ts';
import { unique } from '../../../../schema/rules.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { age, name } from '../../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { webhookFields } from './webhook.ts';

const ValidatingWebhook = s.object(
  'ValidatingWebhook',
  'A webhook that may reject requests, and which requests it is asked about.',
  webhookFields,
);
export type ValidatingWebhook = TypeOf<typeof ValidatingWebhook>;

/** Webhooks that may reject writes. */
export const ValidatingWebhookConfiguration = defineKind({
  kind: 'ValidatingWebhookConfiguration',
  categories: ['api-extensions'],
  scope: 'Cluster',
  description:
    'Webhooks that are asked, all at the same time, whether a write is allowed. They cannot change the object.',
  versions: { 'admissionregistration.k8s.io/v1': {} },
  fields: {
    webhooks: s.listMap(ValidatingWebhook, 'The webhooks, each under a name of its own.', {
      keys: ['name'],
      rules: [unique('name')],
    }),
  },
  generation: true,
  columns: ({ integer }) => [
    name,
    integer('Webhooks', 'Number of webhooks in the configuration.', ({ webhooks }) => webhooks?.length),
    age,
  ],
});
export type ValidatingWebhookConfiguration = ObjectOf<typeof ValidatingWebhookConfiguration>;
