/** The API server of a federation: the kinds of a federation, over a store of its own, behind TLS. */
import { createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { federationKinds } from '../../../federation/kinds.ts';
import { createAuthenticator } from '../../../server/access/authn/authenticator.ts';
import { createServer } from '../../../server/index.ts';
import { admissionPluginNames, admissionPlugins } from '../../../server/operations/admission/all.ts';
import { answering, logCheck } from '../../../server/serving/http/documents/health.ts';
import { createHttpServer } from '../../../server/serving/http/server.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import { certificates, fromFile } from '../../flags/file-content.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Cleanup } from '../../process/cleanup.ts';
import { explainListening } from '../../process/listen.ts';
import { authenticationFile, clientAuthorities } from '../../up/identity/authentication-files.ts';
import { serverUrl } from '../../up/identity/kubeconfig.ts';
import { encrypting, keyFileIn } from '../../up/store/encryption.ts';
import { apiVersion, release } from '../../version.ts';
import type { FederationServerFlags } from './flags.ts';
import { serveNamedKinds } from './named-kinds.ts';

interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Closes what was opened. */
  readonly cleanup: Cleanup;
  /** Ends the start, which may wait for the store for ever, and what goes on in the background. */
  readonly signal: AbortSignal;
}

/** Resolves when the server listens, with its address. Everything that the flags name is read before the store is opened. */
export async function startFederationServer(
  flags: FederationServerFlags,
  { clock, random, log, cleanup, signal }: Environment,
): Promise<{ readonly server: string }> {
  const tls = await tlsOf(flags);
  const { anonymousAuth: anonymous, requestTimeout: requestTimeoutMs } = flags;
  const tokens = await authenticationFile.tokens(flags.tokenAuthFile);
  const authenticate = createAuthenticator({
    ...{ clock, anonymous, tokens: tokens ? [tokens] : [] },
    passwords: await authenticationFile.passwords(flags.basicAuthFile),
  });
  const opened = await openStore(flags, { clock, random, log, cleanup, signal });
  const { store } = opened;
  const server = await createServer({
    ...{ store, clock, random, log, kinds: federationKinds, namespaces: [] },
    admission: admissionPlugins({
      disabled: admissionPluginNames.filter((name) => !flags.admissionControl.includes(name)),
      enabled: flags.admissionControl,
    }),
    flowControl: {
      ...{ priorityAndFairness: false, requestTimeoutMs },
      ...{ maxReading: flags.maxRequestsInflight, maxMutating: flags.maxMutatingRequestsInflight },
    },
    // The controllers of the federation handle the finalizers of cascading deletion.
    garbageCollection: true,
    release: opened.isExclusive ? release : undefined,
  });
  cleanup.add(async () => server.close());
  await serveNamedKinds({ server, clock, random, log, signal });
  const { bindAddress: host, securePort: port } = flags;
  const { handle, registry, backends, authorizer, flowControl } = server;
  const http = createHttpServer({
    ...{ handle, registry, backends, authorizer, flowControl, authenticate, tls, log, clock, version: apiVersion },
    ...(flags.advertiseAddress === undefined ? {} : { advertised: `${flags.advertiseAddress}:${port}` }),
    limits: { requestTimeoutMs },
    checks: [logCheck(log), answering('etcd', () => store.revision(), clock), ...server.checks],
    isReady: () => true,
  });
  cleanup.add(() => http.close());
  const listening = await explainListening({ host, port, portFlag: '--secure-port' }, () => http.listen(port, host));
  opened.encryptStale?.();
  return { server: serverUrl(host, listening.port) };
}

async function tlsOf({ tlsCertFile, tlsPrivateKeyFile, clientCaFile }: FederationServerFlags) {
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) {
    throw new CliError('--tls-cert-file and --tls-private-key-file are required');
  }
  const [cert, key, ca] = await Promise.all([
    fromFile('--tls-cert-file', tlsCertFile, certificates),
    fromFile('--tls-private-key-file', tlsPrivateKeyFile, privateKey),
    clientAuthorities('', clientCaFile),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const problem = (cause as Error).message;
    throw new CliError(`--tls-cert-file ${tlsCertFile} cannot be used with ${tlsPrivateKeyFile}: ${problem}`, {
      cause,
    });
  }
  return { cert, key, ca };
}

function privateKey(text: string): string {
  try {
    createPrivateKey(text);
  } catch (cause) {
    throw new Error('it has no PEM private key without a passphrase', { cause });
  }
  return text;
}

interface OpenedStore {
  readonly store: Store;
  /** Whether no other server uses it. */
  readonly isExclusive: boolean;
  encryptStale?(): void;
}

/** Secrets are encrypted in the directory; its key is beside them. */
async function openStore(flags: FederationServerFlags, environment: Environment): Promise<OpenedStore> {
  const { dataDir: directory = '', etcdServers, etcdCafile, etcdCertfile, etcdKeyfile } = flags;
  const { clock, log, cleanup } = environment;
  if (directory && etcdServers) throw new CliError('--data-dir and --etcd-servers must not both be given');
  const name = etcdServers ? 'etcd' : directory ? 'embedded' : 'memory';
  const driver = storeDriver(name);
  const settings = { etcdServers, etcdCafile, etcdCertfile, etcdKeyfile };
  driver.check(settings);
  const store = await driver.open(settings, { directory, clock, log });
  cleanup.add(() => store.close());
  if (!driver.durable) log.warn('objects are kept in memory, and are lost when the server ends');
  if (!directory) return { store, isExclusive: false };
  return { ...(await encrypting(store, { file: keyFileIn(directory), ...environment })), isExclusive: true };
}
