import { once } from 'node:events';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connection } from '../../src/client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../src/client/transport/http/https-transport.ts';
import type { Request } from '../../src/client/transport/transport.ts';
import { type TestAuthority, testAuthority } from '../support/tls.ts';

const request: Request = { verb: 'get', apiVersion: 'v1', plural: 'nodes', name: 'a' };

describe('the client over TLS', () => {
  let authority: TestAuthority;
  let server: https.Server;
  let address: string;

  beforeAll(async () => {
    authority = await testAuthority();
    const identity = { ...(await authority.server()), ca: authority.ca };
    const options = { ...identity, requestCert: true, rejectUnauthorized: false };
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
  });

  async function askedBy(connection: Omit<Connection, 'server'>): Promise<string | undefined> {
    const transport = httpsTransport({ server: address, ...connection });
    try {
      const answer = await transport.call(request);
      return answer.type === 'object' ? answer.object.metadata.name : answer.type;
    } finally {
      transport.close();
    }
  }

  it('trusts the given authority and shows its own certificate', async () => {
    const { ca } = authority;
    expect(await askedBy({ ca, ...(await authority.client('ann')) })).toBe('ann');
    expect(await askedBy({ ca })).toBe('nobody');
  });

  it('verifies the configured server name', async () => {
    const { ca } = authority;
    expect(await askedBy({ ca, tlsServerName: 'localhost' })).toBe('nobody');
    await expect(askedBy({ ca, tlsServerName: 'elsewhere' })).rejects.toMatchObject({
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
  });

  it('rejects an untrusted server, unless verification is off', async () => {
    await expect(askedBy({})).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
    expect(await askedBy({ insecureSkipTlsVerify: true })).toBe('nobody');
  });
});
