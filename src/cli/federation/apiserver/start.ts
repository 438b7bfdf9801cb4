/** The API server of a federation, as its flags describe it. */
import { createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Cleanup } from '../../../assembly/cleanup.ts';
import type { Tools } from '../../../assembly/context.ts';
import { authentication } from '../../../assembly/control-plane/authentication.ts';
import { serveHttps } from '../../../assembly/control-plane/https.ts';
import { startFederation } from '../../../assembly/federation/start-federation.ts';
import { keyFileIn } from '../../../assembly/store/encryption.ts';
import { openStore, type StoreOptions } from '../../../assembly/store/open.ts';
import { admissionPlugins } from '../../../server/operations/admission/all.ts';
import { admissionPluginNames } from '../../../server/operations/admission/names.ts';
import { answering, logCheck } from '../../../server/serving/http/documents/health.ts';
import { storeDriver } from '../../../store/drivers.ts';
import { certificates, fromFile } from '../../flags/file-content.ts';
import { CliError } from '../../output/cli-error.ts';
import { explainListening } from '../../process/listen.ts';
import { onRotated } from '../../process/signals.ts';
import { apiVersion, release } from '../../process/version.ts';
import { authenticationFile, clientAuthorities } from '../../up/identity/authentication-files.ts';
import type { FederationServerFlags } from './flags.ts';

interface Environment extends Tools {
  /** Closes what was opened. */
  readonly cleanup: Cleanup;
  /** Ends the start, which may wait for the store for ever, and what goes on in the background. */
  readonly signal: AbortSignal;
}

/** Resolves when the server listens, with its address. Everything that the flags name is read before the store is opened. */
export async function startFederationServer(
  flags: FederationServerFlags,
  environment: Environment,
): Promise<{ readonly server: string }> {
  const { clock, log, cleanup } = environment;
  const tls = await tlsOf(flags);
  const { requestTimeout: requestTimeoutMs } = flags;
  const authenticating = await authentication({
    clock,
    log,
    anonymous: flags.anonymousAuth,
    tokens: await authenticationFile.tokens(flags.tokenAuthFile),
    passwords: await authenticationFile.passwords(flags.basicAuthFile),
  });
  const { store, goOn } = await openStore(storeOptions(flags, environment));
  const { server } = await startFederation({
    ...environment,
    api: {
      store,
      authentication: authenticating,
      admission: admissionPlugins({
        disabled: admissionPluginNames.filter((name) => !flags.admissionControl.includes(name)),
        enabled: flags.admissionControl,
      }),
      flowControl: {
        priorityAndFairness: false,
        requestTimeoutMs,
        maxReading: flags.maxRequestsInflight,
        maxMutating: flags.maxMutatingRequestsInflight,
      },
      // No other server uses the directory.
      release: flags.dataDir ? release : undefined,
    },
  });
  const { bindAddress: host, securePort: port, advertiseAddress } = flags;
  const { urls } = await explainListening({ host, port, portFlag: '--secure-port' }, () =>
    serveHttps({
      server,
      cleanup,
      tls,
      log,
      clock,
      version: apiVersion,
      listeners: [{ host, port }],
      advertised: advertiseAddress === undefined ? undefined : `${advertiseAddress}:${port}`,
      limits: { requestTimeoutMs },
      checks: [logCheck(log), answering('etcd', () => store.revision(), clock), ...server.checks],
      isReady: () => true,
    }),
  );
  goOn();
  return { server: urls[0] };
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

/** Secrets are encrypted in the directory; its key is beside them. */
function storeOptions(flags: FederationServerFlags, environment: Environment): StoreOptions {
  const { dataDir: directory = '', etcdServers, etcdCafile, etcdCertfile, etcdKeyfile } = flags;
  if (directory && etcdServers) throw new CliError('--data-dir and --etcd-servers must not both be given');
  const driver = storeDriver(etcdServers ? 'etcd' : directory ? 'embedded' : 'memory');
  const settings = { etcdServers, etcdCafile, etcdCertfile, etcdKeyfile };
  driver.check(settings);
  if (!driver.durable) environment.log.warn('objects are kept in memory, and are lost when the server ends');
  const keyFile = directory ? keyFileIn(directory) : undefined;
  return { ...environment, driver, settings, directory, keyFile, onRotated };
}
