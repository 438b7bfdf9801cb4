import { s } from '../../../../schema/builders.ts';
import { unique } from '../../../../schema/rules.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { age, name } from '../../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { webhookFields } from './webhook.ts';

const MutatingWebhook = s.object(
  'MutatingWebhook',
  'A webhook that may change or reject objects, and which requests it is asked about.',
  {
    ...webhookFields,
    reinvocationPolicy: s.enum(
      ['IfNeeded', 'Never'],
      'Whether the webhook is asked a second time when the object was changed after it: Never or IfNeeded. Defaults to Never.',
      { default: 'Never' },
    ),
  },
);
export type MutatingWebhook = TypeOf<typeof MutatingWebhook>;

/** Webhooks that may change the written object. */
export const MutatingWebhookConfiguration = defineKind({
  kind: 'MutatingWebhookConfiguration',
  categories: ['api-extensions'],
  scope: 'Cluster',
  description:
    'Webhooks that are asked, one after the other, whether a write is allowed and what to change in the object.',
  versions: { 'admissionregistration.k8s.io/v1': {} },
  fields: {
    webhooks: s.listMap(MutatingWebhook, 'The webhooks, each under a name of its own. They are asked in this order.', {
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
export type MutatingWebhookConfiguration = ObjectOf<typeof MutatingWebhookConfiguration>;
