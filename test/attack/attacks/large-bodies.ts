import type { Attack, AttackContext } from '../attack.ts';
import { LARGE_BODY_BYTES } from '../client.ts';

const COLLECTION = '/api/v1/namespaces/tenant/configmaps';
const YAML = 'application/yaml';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const OBJECTS = 2_000;

/** Valid and invalid bodies of the largest size, in every format. */
export const largeBodies: Attack = {
  name: 'large bodies',
  async run({ tenant }) {
    const fields = Math.floor(LARGE_BODY_BYTES / 30);
    const data = Object.fromEntries(Array.from({ length: fields }, (_, i) => [`key-${i}`, `value ${i}`]));
    const json = JSON.stringify({ metadata: { name: 'large' }, data });
    const yaml = (count: number) =>
      `metadata:\n  name: large\ndata:\n${Array.from({ length: count }, (_, i) => `  key-${i}: value ${i}\n`).join('')}`;
    await tenant.send('POST', COLLECTION, { body: json });
    await tenant.send('POST', COLLECTION, { body: { metadata: { name: 'large' }, data: { x: 'y'.repeat(900_000) } } });
    await tenant.send('POST', COLLECTION, { body: `${json.slice(0, -1)},"__proto__":1}` });
    await tenant.send('POST', `${COLLECTION}?fieldValidation=Strict`, { body: `${json.slice(0, -1)},"data":{}}` });
    await tenant.send('POST', COLLECTION, { body: json.slice(0, -5) });
    await tenant.send('POST', COLLECTION, { body: `{"a":${'['.repeat(LARGE_BODY_BYTES / 2)}` });
    await tenant.send('POST', COLLECTION, { body: `[${'1,'.repeat(LARGE_BODY_BYTES / 2 - 10)}1]` });
    await tenant.send('POST', COLLECTION, { body: yaml(10_000), type: YAML });
    await tenant.send('POST', COLLECTION, { body: yaml(100_000), type: YAML });
    await tenant.send('POST', COLLECTION, { body: `a: "${'\\u0041'.repeat(LARGE_BODY_BYTES / 6)}"`, type: YAML });
    await tenant.send('POST', COLLECTION, { body: '- '.repeat(LARGE_BODY_BYTES / 2), type: YAML });
    for (const type of ['merge-patch+json', 'strategic-merge-patch+json', 'json-patch+json']) {
      await tenant.send('PATCH', `${COLLECTION}/large`, { body: json, type: `application/${type}` });
    }
    await tenant.send('GET', `${COLLECTION}/large`, { headers: { accept: YAML } });
    await tenant.send('GET', `${COLLECTION}/large?pretty=true`);
    await tenant.send('DELETE', `${COLLECTION}/large`);
  },
};

/** Lists of many objects in every form, and their deletion at once. */
export const largeLists: Attack = {
  name: 'large lists',
  async run(context) {
    const { tenant } = context;
    await createMany(context);
    const forms: Record<string, string>[] = [
      {},
      { accept: YAML },
      { accept: TABLE },
      { 'user-agent': 'curl/8' },
      { 'accept-encoding': 'gzip' },
    ];
    for (const headers of forms) {
      await tenant.send('GET', COLLECTION, { headers });
      await tenant.send('GET', `${COLLECTION}?labelSelector=odd%3D1`, { headers });
      await tenant.send('GET', `${COLLECTION}?limit=500`, { headers });
    }
    await tenant.send('DELETE', `${COLLECTION}?labelSelector=many`);
  },
};

async function createMany({ tenant }: AttackContext): Promise<void> {
  let i = 0;
  const work = async () => {
    while (i < OBJECTS) {
      const metadata = { name: `many-${++i}`, labels: { many: 'x', odd: String(i % 2) } };
      await tenant.send('POST', COLLECTION, { body: { metadata, data: { text: 'x'.repeat(4_000) } } });
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
