import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { openPki, type Pki } from '../../src/cli/pki/pki.ts';
import { httpsTransport } from '../../src/client/https-transport.ts';
import type { Connection } from '../../src/client/kubeconfig.ts';
import type { Request } from '../../src/client/transport.ts';

const request: Request = { verb: 'get', apiVersion: 'v1', plural: 'nodes', name: 'a' };

describe('the client over TLS', () => {
  let directory: string;
  let pki: Pki;
  let server: https.Server;
  let address: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'client-tls-'));
    const names = ['127.0.0.1', 'kubernetes'];
    pki = await openPki({ directory, names, clock: systemClock, random: systemRandom });
    const { certificate: cert, key } = pki.serving;
    const options = { cert, key, ca: pki.authority, requestCert: true, rejectUnauthorized: false };
    server = https.createServer(options, (incoming, response) => {
      const name = (incoming.socket as TLSSocket).getPeerCertificate().subject?.CN ?? 'nobody';
      response.end(JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true });
  });

  async function askedBy(connection: Omit<Connection, 'server'>): Promise<string> {
    const transport = httpsTransport({ server: address, ...connection });
    try {
      const answer = await transport.call(request);
      return answer.type === 'object' ? (answer.object.metadata.name ?? '') : answer.type;
    } finally {
      transport.close();
    }
  }

  it('trusts the given authority and shows its own certificate', async () => {
    const { certificate: cert, key } = pki.admin;
    expect(await askedBy({ ca: pki.authority, cert, key })).not.toBe('nobody');
    expect(await askedBy({ ca: pki.authority })).toBe('nobody');
  });

  it('checks the name it was told to check', async () => {
    expect(await askedBy({ ca: pki.authority, tlsServerName: 'kubernetes' })).toBe('nobody');
    await expect(askedBy({ ca: pki.authority, tlsServerName: 'elsewhere' })).rejects.toMatchObject({
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
  });

  it('refuses a server it does not trust, unless it was told not to care', async () => {
    await expect(askedBy({})).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
    expect(await askedBy({ insecureSkipTlsVerify: true })).toBe('nobody');
  });
});
