import type { Attack } from '../attack.ts';
import { LARGE_BODY_BYTES } from '../client.ts';

const NAMESPACE = '/api/v1/namespaces/tenant';
const SELF_REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** Texts that a regular expression could match in many ways. */
export const longTexts: Attack = {
  name: 'long texts',
  async run({ tenant }) {
    const digits = `${'0'.repeat(LARGE_BODY_BYTES)}x`;
    const container = { name: 'main', image: 'busybox', resources: { limits: { cpu: digits } } };
    await tenant.send('POST', `${NAMESPACE}/pods`, {
      body: { metadata: { name: 'digits' }, spec: { containers: [container] } },
    });
    for (const image of ['a/', 'a-', 'a.', 'A', 'a:']) {
      const spec = { containers: [{ name: 'main', image: image.repeat(LARGE_BODY_BYTES / image.length) }] };
      await tenant.send('POST', `${NAMESPACE}/pods?dryRun=All`, { body: { metadata: { name: 'image' }, spec } });
    }
    const hard = { pods: digits };
    await tenant.send('POST', `${NAMESPACE}/resourcequotas`, {
      body: { metadata: { name: 'digits' }, spec: { hard } },
    });
  },
};

/** Sends duplicate keys, each of which has a path that can be as long as the body. */
export const duplicateKeys: Attack = {
  name: 'duplicate keys',
  async run({ nobody }) {
    const long = 'x'.repeat(LARGE_BODY_BYTES / 2);
    const repeated = new Array(200_000).fill('"a":1').join(',');
    await nobody.send('POST', SELF_REVIEWS, { body: `{"${long}":{${repeated}}}` });
    const items = new Array(70_000).fill('{"a":1,"a":2}').join(',');
    await nobody.send('POST', SELF_REVIEWS, { body: `{"${long}":[${items}]}` });
  },
};

/** A quota is compared with every pod, and its scopes with its resources. */
export const quotaScopes: Attack = {
  name: 'quota scopes',
  async run({ admin }) {
    const scopes = Array.from({ length: 30_000 }, (_, i) => (i % 2 ? 'BestEffort' : 'NotTerminating'));
    const resources = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`count/things-${i}`, '1']));
    const hard = resources(10_000);
    const send = (spec: object) =>
      admin.send('POST', `${NAMESPACE}/resourcequotas`, { body: { metadata: { name: 'scopes' }, spec } });
    for (const spec of [
      { hard: { pods: '1' }, scopes },
      { hard, scopes },
      { hard, scopes: scopes.slice(0, 900) },
      { hard: resources(2_000), scopes: scopes.slice(0, 900) },
    ]) {
      await send(spec);
      const pod = { metadata: { name: 'counted' }, spec: { containers: [{ name: 'main', image: 'busybox' }] } };
      await admin.send('POST', `${NAMESPACE}/pods?dryRun=All`, { body: pod });
      await admin.send('DELETE', `${NAMESPACE}/resourcequotas/scopes`);
    }
  },
};
