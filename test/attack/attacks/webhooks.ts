/** Webhooks that hang, answer nonsense, or answer with patches as large as they can be. */
import { jsonPatch, startWebhooks, type WebhookServer } from '../../support/webhook-server.ts';
import type { Attack, AttackContext } from '../attack.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const OBJECTS = '/api/v1/namespaces/tenant/configmaps';
const MB = 1_000_000;

type Answer = () => object | string | undefined;

const operations = (count: number, operation: (i: number) => object) =>
  jsonPatch(...Array.from({ length: count }, (_, i) => operation(i)));

const ANSWERS: Readonly<Record<string, Answer>> = {
  hang: () => undefined,
  nonsense: () => 'a'.repeat(10 * MB),
  'nested-lists': () => '['.repeat(3 * MB),
  'not-base64': () => ({ allowed: true, patchType: 'JSONPatch', patch: '*'.repeat(3 * MB) }),
  'large-value': () => jsonPatch({ op: 'add', path: '/data', value: { a: 'a'.repeat(2 * MB) } }),
  'many-operations': () => operations(10_000, (i) => ({ op: 'add', path: `/metadata/annotations/a${i}`, value: '' })),
  'many-tests': () => operations(10_000, () => ({ op: 'test', path: '/data/a', value: 'a'.repeat(1_000) })),
  'deep-values': () => {
    const value = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
    const patch = Buffer.from(`[{"op":"add","path":"/data","value":${value}}]`).toString('base64');
    return { allowed: true, patchType: 'JSONPatch', patch };
  },
  copies: () => operations(8, (i) => ({ op: 'copy', from: '/data', path: `/data/a${i}` })),
  'many-warnings': () => ({ allowed: true, warnings: Array.from({ length: 200_000 }, () => 'a warning') }),
  'long-message': () => ({ allowed: true, status: { message: 'a'.repeat(3 * MB) } }),
  'many-annotations': () => ({
    allowed: true,
    auditAnnotations: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`a${i}`, 'a'])),
  }),
};

export const hostileWebhooks: Attack = {
  name: 'webhooks that hang or answer nonsense',
  async run({ admin }) {
    const webhooks = await startWebhooks();
    try {
      for (const [name, answer] of Object.entries(ANSWERS)) {
        webhooks.on(name, answer);
        await attackWith(admin, webhooks, name);
      }
    } finally {
      webhooks.close();
    }
  },
};

async function attackWith(admin: AttackContext['admin'], webhooks: WebhookServer, name: string): Promise<void> {
  const webhook = {
    name: `${name}.example.com`,
    clientConfig: { url: webhooks.url(name), caBundle: webhooks.caBundle },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'tenant' } },
    ...{ sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 1, failurePolicy: 'Ignore' },
  };
  await admin.send('POST', CONFIGURATIONS, { body: { metadata: { name }, webhooks: [webhook] } });
  const object = { metadata: { generateName: 'a-', annotations: { a: 'a' } }, data: { a: 'a'.repeat(1_000) } };
  await Promise.all(Array.from({ length: 4 }, () => admin.send('POST', OBJECTS, { body: object })));
  await admin.send('DELETE', `${CONFIGURATIONS}/${name}`);
}
