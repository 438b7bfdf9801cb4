/** Tests every sort of identity, as clients present it, and how each ends. */
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:https';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { pinnedAuthority } from '../../src/client/transport/http/pinned-authority.ts';
import { newKey } from '../../src/protocols/x509/certificate.ts';
import { newRequest } from '../../src/protocols/x509/request.ts';
import { jwtSigner, keyIdOf } from '../../src/server/access/authn/tokens/jwt.ts';
import { type TestAuthority, testAuthority } from '../support/tls.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from './program.ts';

const DAY = 86_400_000;
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';

interface Identity {
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** The authority of the server, where it is another one. */
  readonly ca?: string;
}

let qd: Qd;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
let ca: string;

beforeAll(async () => {
  issuer = await startIssuer();
  qd = await startQd({ flags: issuer.flags });
  ca = await readFile(join(qd.directory, 'data', 'pki', 'ca.crt'), 'utf8');
});
afterAll(async () => {
  await qd?.stop();
  issuer?.close();
});

/** Sends a request with these credentials; the body is parsed if it is JSON. */
function ask(identity: Identity, method: string, path: string, body?: object, origin = qd.origin) {
  return new Promise<{ code: number; body: any }>((resolve, reject) => {
    const { token, headers: more, ...certificate } = identity;
    const headers = {
      ...more,
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body ? { 'content-type': 'application/json' } : {}),
    };
    const call = request(origin + path, { method, ca, ...certificate, agent: false, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ code: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text });
    });
    call.on('error', reject);
    call.end(body && JSON.stringify(body));
  });
}

const whoami = async (identity: Identity) => {
  const { code, body } = await ask(identity, 'POST', SELF, {});
  return code === 200 ? body.status.userInfo : code;
};
const admin = (method: string, path: string, body?: object) => qd.request(method, path, { body });

/** Polling options for changes that no watch reports, such as the served certificate. */
const POLL = { timeout: 10_000, interval: 20 };

describe('certificates', () => {
  let foreign: TestAuthority;
  beforeAll(async () => {
    foreign = await testAuthority('quarterdeck-ca');
  });

  test('of the cluster are their subject', async () => {
    const read = (name: string) => readFile(join(qd.directory, 'data', 'pki', name), 'utf8');
    const own = { cert: await read('admin.crt'), key: await read('admin.key') };
    expect(await whoami(own)).toMatchObject({
      username: 'kubernetes-admin',
      groups: ['system:masters', 'system:authenticated'],
    });
  });

  test('of a foreign authority of the same name, or none, are nobody', async () => {
    expect(await whoami(await foreign.client('kubernetes-admin', 'system:masters'))).toBe(401);
    expect(await whoami({})).toBe(401);
  });

  test('that are over, or have not begun, are nobody, also under an authority that is trusted', async () => {
    const file = join(qd.directory, 'clients.crt');
    await writeFile(file, foreign.ca);
    const other = await startQd({ flags: ['--client-ca-file', file] });
    try {
      const otherCa = await readFile(join(other.directory, 'data', 'pki', 'ca.crt'), 'utf8');
      const code = async (validity?: { notBefore?: number; notAfter: number }) => {
        const pair = await foreign.client('ann', 'system:masters', validity);
        return new Promise((resolve, reject) => {
          const call = request(
            other.origin + SELF,
            { method: 'POST', ca: otherCa, ...pair, agent: false },
            (response) => {
              response.resume();
              resolve(response.statusCode);
            },
          );
          call.setHeader('content-type', 'application/json');
          call.on('error', reject).end('{}');
        });
      };
      const now = Date.now();
      expect(await code()).toBe(200);
      expect(await code({ notAfter: now - 1000 })).toBe(401);
      expect(await code({ notBefore: now + DAY, notAfter: now + 2 * DAY })).toBe(401);
    } finally {
      await other.stop();
    }
  });
});

describe('an authenticating proxy', () => {
  test('names users in headers, which nobody else can', async () => {
    const proxies = await testAuthority('proxies');
    const file = join(qd.directory, 'proxies.crt');
    await writeFile(file, proxies.ca);
    const flags = ['--requestheader-client-ca-file', file, '--requestheader-allowed-names', 'gate'];
    flags.push('--requestheader-group-headers', 'X-Remote-Group,X-Gate-Group');
    const other = await startQd({ flags });
    try {
      const pki = (name: string) => readFile(join(other.directory, 'data', 'pki', name), 'utf8');
      const headers = { 'X-Remote-User': 'ann', 'X-Remote-Group': ['dev', 'ops'], 'X-Remote-Extra-Team': 'red' };
      const asked = async (identity: Identity) => {
        const sent = { ...identity, ca: await pki('ca.crt') };
        const { code, body } = await ask({ headers, ...sent }, 'POST', SELF, {}, other.origin);
        return code < 300 ? body.status.userInfo : code;
      };
      expect(await asked(await proxies.client('gate'))).toMatchObject({
        ...{ username: 'ann', groups: ['dev', 'ops', 'system:authenticated'], extra: { team: ['red'] } },
      });
      expect(await asked({ ...(await proxies.client('gate', 'system:masters')), headers: {} })).toBe(401);
      expect(await asked(await proxies.client('other', 'system:masters'))).toBe(401);
      expect(await asked({})).toBe(401);
      const own = { cert: await pki('admin.crt'), key: await pki('admin.key') };
      expect(await asked(own)).toMatchObject({ username: 'kubernetes-admin' });
      const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
      const { data } = (await other.request('GET', path)).body;
      expect(JSON.parse(data['requestheader-allowed-names'])).toEqual(['front-proxy-client', 'gate']);
      expect(data['requestheader-client-ca-file']).toContain(proxies.ca.trim());
      expect(JSON.parse(data['requestheader-username-headers'])).toEqual(['X-Remote-User']);
      expect(JSON.parse(data['requestheader-group-headers'])).toEqual(['X-Remote-Group', 'X-Gate-Group']);
    } finally {
      await other.stop();
    }
  });
});

describe('tokens of service accounts', () => {
  const tokenOf = async (name: string, spec: object = {}) => {
    const answer = await admin('POST', `${ACCOUNTS}/${name}/token`, { spec: { audiences: [], ...spec } });
    expect(answer.code).toBe(200);
    return answer.body.status.token as string;
  };

  test('kept in a Secret are good as long as the Secret is there', async () => {
    const account = await qd.until(ACCOUNTS, ({ metadata, secrets }) => metadata.name === 'default' && secrets?.length);
    const [{ name }] = account.secrets;
    const { body: secret } = await admin('GET', `/api/v1/namespaces/default/secrets/${name}`);
    const token = atob(secret.data.token);
    expect(await whoami({ token })).toMatchObject({ username: 'system:serviceaccount:default:default' });
    await admin('DELETE', `/api/v1/namespaces/default/secrets/${name}`);
    expect(await whoami({ token })).toBe(401);
  });

  test('bound to a time are good for those they name', async () => {
    await admin('POST', ACCOUNTS, { metadata: { name: 'bound' } });
    const token = await tokenOf('bound');
    expect(await whoami({ token })).toMatchObject({
      username: 'system:serviceaccount:default:bound',
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)] },
    });
    const elsewhere = await tokenOf('bound', { audiences: ['vault'] });
    expect(await whoami({ token: elsewhere })).toBe(401);
    const review = async (audiences?: string[]) => {
      const spec = { token: elsewhere, ...(audiences ? { audiences } : {}) };
      return (await admin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec })).body.status;
    };
    expect(await review(['vault', 'x'])).toMatchObject({ authenticated: true, audiences: ['vault'] });
    expect(await review()).toEqual({ user: {}, error: 'invalid bearer token' });
    await admin('DELETE', `${ACCOUNTS}/bound`);
    expect(await whoami({ token })).toBe(401);
  });

  test('bound to a pod end with it', async () => {
    await admin('POST', ACCOUNTS, { metadata: { name: 'runner' } });
    const spec = { serviceAccountName: 'runner', containers: [{ name: 'c', image: 'i' }] };
    const pods = '/api/v1/namespaces/default/pods';
    expect((await admin('POST', pods, { metadata: { name: 'p' }, spec })).code).toBe(200);
    const token = await tokenOf('runner', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } });
    expect(await whoami({ token })).toMatchObject({
      extra: { 'authentication.kubernetes.io/pod-name': ['p'] },
    });
    await admin('DELETE', `${pods}/p?gracePeriodSeconds=0`);
    expect(await whoami({ token })).toBe(401);
  });

  test('can be verified by others, with the keys that the cluster publishes', async () => {
    const { body: about } = await admin('GET', '/.well-known/openid-configuration');
    expect(about).toMatchObject({ issuer: 'https://kubernetes.default.svc.cluster.local' });
    expect(new URL(about.jwks_uri).pathname).toBe('/openid/v1/jwks');
    const answer = await admin('GET', '/openid/v1/jwks');
    expect(answer.type).toBe('application/jwk-set+json');
    const [key] = JSON.parse(answer.text).keys;
    const [head = ''] = (await tokenOf('default')).split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'ES256', kid: key.kid });
    expect(createPublicKey({ key, format: 'jwk' }).asymmetricKeyType).toBe('ec');
  });
});

describe('a machine that joins', () => {
  const run = (...args: string[]) => runQd([...args, '--kubeconfig', qd.kubeconfig]);

  /** Asks for a certificate and waits for it. */
  async function certificateFor(identity: Identity, name: string, spec: object, names: string[] = []) {
    const { privateKey } = await newKey();
    const subject = { commonName: 'system:node:worker', organization: 'system:nodes' };
    const pem = newRequest({ subject, names }, privateKey);
    const made = await ask(identity, 'POST', CSRS, { metadata: { name }, spec: { request: btoa(pem), ...spec } });
    expect(made).toMatchObject({ code: 200 });
    const csr = await qd.until(CSRS, ({ metadata, status }) => metadata.name === name && status.certificate);
    return {
      csr,
      cert: atob(csr.status.certificate),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    };
  }

  const client = {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  };
  const serving = { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] };

  test('finds the cluster by the hash, gets its certificate with a token, renews it, and serves under its name', async () => {
    const { stdout, code } = await run('token', 'create', '--ttl', '1h', '--description', 'a rack');
    expect(code).toBe(0);
    const [, server = '', token = '', hash = ''] = /server +(\S+)\n +token +(\S+)\n +ca-hash +(\S+)/.exec(stdout) ?? [];
    const signal = AbortSignal.timeout(10_000);
    expect((await pinnedAuthority(server, hash, signal)).trim()).toBe(ca.trim());
    await expect(pinnedAuthority(server, `sha256:${'0'.repeat(64)}`, signal)).rejects.toThrow('shows no authority');

    expect(await whoami({ token })).toMatchObject({
      username: `system:bootstrap:${token.slice(0, 6)}`,
      groups: expect.arrayContaining(['system:bootstrappers']),
    });
    const info = await ask({ token }, 'GET', '/api/v1/namespaces/kube-public/configmaps/cluster-info');
    expect(info.body.data).toHaveProperty(`jws-kubeconfig-${token.slice(0, 6)}`);
    expect((await ask({ token }, 'GET', '/api/v1/namespaces/kube-system/secrets')).code).toBe(403);

    const first = await certificateFor({ token }, 'first', { ...client, expirationSeconds: 3600 });
    expect(first.csr.status.conditions).toMatchObject([{ type: 'Approved', reason: 'AutoApproved' }]);
    const life = Date.parse(new X509Certificate(first.cert).validTo) - Date.now();
    expect(Math.abs(life - 3_600_000)).toBeLessThan(120_000);
    expect(await whoami({ cert: first.cert, key: first.key })).toMatchObject({
      username: 'system:node:worker',
      groups: ['system:nodes', 'system:authenticated'],
    });

    const second = await certificateFor({ cert: first.cert, key: first.key }, 'second', client);
    expect(second.csr.status.conditions[0].message).toContain('self kubelet client certificate');
    const node = { cert: second.cert, key: second.key };
    expect((await ask(node, 'POST', '/api/v1/nodes', { metadata: { name: 'worker' } })).code).toBe(200);
    const third = await certificateFor(node, 'third', serving, ['worker']);
    expect(new X509Certificate(third.cert).checkHost('worker')).toBe('worker');

    const listed = await run('token', 'list');
    expect(listed.stdout).toContain('a rack');
    expect(listed.stdout).not.toContain(token.slice(7));
    expect((await run('token', 'delete', token.slice(0, 6))).code).toBe(0);
    expect(await whoami({ token })).toBe(401);
    expect((await run('token', 'delete', token.slice(0, 6))).stderr).toBe(
      `qd: there is no token ${token.slice(0, 6)}; qd token list shows the tokens\n`,
    );
  });

  test('is told in the request why it gets no certificate', async () => {
    const { privateKey } = await newKey();
    const pem = newRequest({ subject: { commonName: 'eve', organization: 'system:masters' } }, privateKey);
    const spec = { request: btoa(pem), ...client };
    await admin('POST', CSRS, { metadata: { name: 'eve' }, spec });
    const { body: csr } = await admin('GET', `${CSRS}/eve`);
    expect(csr.status).toEqual({});
    csr.status.conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand', message: 'a mistake' }];
    expect((await admin('PUT', `${CSRS}/eve/approval`, csr)).code).toBe(200);
    const failed = await qd.until(CSRS, ({ metadata, status }) => {
      return metadata.name === 'eve' && status.conditions?.length > 1;
    });
    expect(failed.status.conditions[1]).toMatchObject({
      type: 'Failed',
      reason: 'SignerValidationFailure',
      message: 'subject organization is not system:nodes',
    });
  });
});

describe('people of an OpenID Connect issuer', () => {
  test('are known by their claims, and only with a token for this cluster', async () => {
    expect(await whoami({ token: issuer.token() })).toMatchObject({
      username: 'oidc:ann@people.example',
      groups: ['oidc:dev', 'system:authenticated'],
    });
    expect(await whoami({ token: issuer.token({ aud: 'another' }) })).toBe(401);
    expect(await whoami({ token: issuer.token({ exp: Date.now() / 1000 - 10 }) })).toBe(401);
    expect(await whoami({ token: issuer.token({ hd: 'else.example' }) })).toBe(401);
    const review = { spec: { token: issuer.token() } };
    const { status } = (await admin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review)).body;
    expect(status).toMatchObject({ authenticated: true, user: { username: 'oidc:ann@people.example' } });
  });
});

describe('qd proxy', () => {
  const children: ReturnType<typeof spawnProgram>[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill();
      await once(child, 'exit');
    }
  });

  async function start(...flags: string[]) {
    const child = spawnProgram('qd', ['proxy', '--kubeconfig', qd.kubeconfig, ...flags], {});
    children.push(child);
    const [line] = await once(child.stdout!, 'data');
    return /Starting to serve on (\S+)/.exec(String(line))?.[1] ?? '';
  }

  test('serves without credentials what the kubeconfig may see, watches included', async () => {
    const place = await start('--port', '0');
    const version = await fetch(`http://${place}/version`);
    expect(await version.json()).toHaveProperty('gitVersion');
    const watch = await fetch(`http://${place}/api/v1/namespaces?watch=true`);
    const reader = watch.body!.getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value!).toString()).toContain('"ADDED"');
    await reader.cancel();
    expect((await fetch(`http://${place}/api/v1/namespaces/x/pods/p/exec`)).status).toBe(403);
  });

  test('listens on a socket that is its owner’s alone', async () => {
    const path = join(qd.directory, 'proxy.sock');
    expect(await start('--unix-socket', path)).toBe(path);
    expect((await stat(path)).mode & 0o077).toBe(0);
    const socket = createConnection(path);
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test('certificates, keys and the authority are rotated while the cluster runs', async () => {
  const directory = await newDirectory();
  const data = join(directory, 'data');
  const certs = (...args: string[]) => runQd(['certs', ...args, '--data-dir', data]);
  const shown = (origin: string) =>
    new Promise<string>((resolve, reject) => {
      const { hostname: host, port } = new URL(origin);
      const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()!.fingerprint256);
        socket.destroy();
      });
      socket.on('error', reject);
    });
  /** A client that knows only the first authority, with a token. */
  const authorized = async (origin: string, token: string, { trustsAll } = { trustsAll: false }) => {
    const trust = trustsAll ? { rejectUnauthorized: false } : { ca: oldCa };
    const call = request(`${origin}/api`, { ...trust, headers: { authorization: `Bearer ${token}` }, agent: false });
    call.end();
    const [response] = await once(call, 'response');
    return response.resume();
  };
  const first = await startQd({ directory });
  const oldCa = await readFile(join(data, 'pki', 'ca.crt'), 'utf8');
  const oldPrint = await shown(first.origin);
  const oldConfig = await readFile(first.kubeconfig, 'utf8');
  const account = '/api/v1/namespaces/default/serviceaccounts';
  await first.request('POST', account, { body: { metadata: { name: 'a' } } });
  const token = (await first.request('POST', `${account}/a/token`, { body: { spec: { audiences: [] } } })).body.status
    .token;

  expect((await certs('rotate')).stdout).toMatch(/^rotated serving, admin; process \d+ uses the new ones now\n$/);
  await expect.poll(() => shown(first.origin), POLL).not.toBe(oldPrint);
  await expect.poll(() => readFile(first.kubeconfig, 'utf8'), POLL).not.toBe(oldConfig);
  expect((await first.request('GET', '/api')).code).toBe(200);

  const before = await shown(first.origin);
  expect((await certs('rotate', 'authority', 'service-account-key')).code).toBe(0);
  await expect.poll(() => shown(first.origin), POLL).not.toBe(before);
  expect((await certs('show')).stdout).toMatch(/authority \(replaced\) +CN=quarterdeck-ca /);
  const keyOf = (text: string) => JSON.parse(Buffer.from(text.split('.')[0]!, 'base64url').toString()).kid;
  const issue = async () =>
    (await first.request('POST', `${account}/a/token`, { body: { spec: {} } })).body.status.token;
  await expect.poll(async () => keyOf(await issue()), POLL).not.toBe(keyOf(token));
  const { keys } = JSON.parse((await first.request('GET', '/openid/v1/jwks')).text);
  expect(keys.map(({ kid }: any) => kid)).toEqual([keyOf(await issue()), keyOf(token)]);
  const root = await first.until('/api/v1/namespaces/default/configmaps', ({ metadata, data }) => {
    return metadata.name === 'kube-root-ca.crt' && data['ca.crt'] !== oldCa;
  });
  expect(root.data['ca.crt']).toContain(oldCa);
  expect((await authorized(first.origin, token)).statusCode).toBe(200);
  await first.stop();

  const second = await startQd({ directory });
  try {
    expect((await authorized(second.origin, token)).statusCode).toBe(200);
    const unconfirmed = await certs('forget');
    expect(unconfirmed.code).toBe(1);
    expect(unconfirmed.stderr).toMatch(
      /reject nodes of qd agent .* CN=quarterdeck-ca.* tokens of service accounts .*--yes/,
    );
    expect((await authorized(second.origin, token)).statusCode).toBe(200);
    expect((await certs('forget', '--yes')).code).toBe(0);
    const codeOf = async () => (await authorized(second.origin, token, { trustsAll: true })).statusCode;
    await expect.poll(codeOf, POLL).toBe(401);
    await expect(authorized(second.origin, token)).rejects.toThrow(/certificate/);
    for (const file of await readdir(join(data, 'pki'))) {
      expect((await stat(join(data, 'pki', file))).mode & 0o077).toBe(0);
    }
  } finally {
    await second.stop();
    await rm(directory, { recursive: true, force: true });
  }
});

test('secrets are not in the output of the program', () => {
  const said = qd.output();
  expect(said).not.toMatch(/eyJ|BEGIN|[a-z0-9]{6}\.[a-z0-9]{16}/);
});

/** An issuer on loopback, and the flags by which a cluster trusts it. */
async function startIssuer() {
  const authority = await testAuthority('people-ca');
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const publicKey = createPublicKey(key);
  const server = createServer(await authority.server(), (incoming, outgoing) => {
    const jwks = {
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: keyIdOf(publicKey), alg: 'RS256', use: 'sig' }],
    };
    const about = { issuer: url, jwks_uri: `${url}/keys` };
    outgoing.setHeader('content-type', 'application/json');
    outgoing.end(JSON.stringify(incoming.url === '/keys' ? jwks : about));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as { port: number }).port}`;
  const directory = await newDirectory();
  const file = join(directory, 'ca.crt');
  await writeFile(file, authority.ca);
  const sign = jwtSigner(key);
  const claims = {
    iss: url,
    aud: 'qd',
    sub: 'u-1',
    email: 'ann@people.example',
    groups: ['dev'],
    hd: 'people.example',
  };
  return {
    flags: [
      ...['--oidc-issuer-url', url, '--oidc-client-id', 'qd', '--oidc-ca-file', file],
      ...['--oidc-username-claim', 'email', '--oidc-username-prefix', 'oidc:'],
      ...[
        '--oidc-groups-claim',
        'groups',
        '--oidc-groups-prefix',
        'oidc:',
        '--oidc-required-claim',
        'hd=people.example',
      ],
    ],
    token: (given: object = {}) => sign({ ...claims, exp: Math.floor(Date.now() / 1000) + 600, ...given }),
    close() {
      server.close();
      void rm(directory, { recursive: true, force: true });
    },
  };
}
