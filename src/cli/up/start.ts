/** The start of a cluster, step by step. What a step opens goes to the clean-up, which closes it in the opposite order. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { allControllers } from '../../controllers/all.ts';
import { allKinds } from '../../kinds/all.ts';
import type { User } from '../../server/api.ts';
import { createHttpServer } from '../../server/http/server.ts';
import { createServer } from '../../server/index.ts';
import { explain } from '../cli-error.ts';
import { openPki } from '../pki/pki.ts';
import { apiVersion, version } from '../version.ts';
import { advertisedAddress, servingNames } from './addresses.ts';
import { authentication, clientAuthorities } from './authentication.ts';
import type { Cleanup } from './cleanup.ts';
import { startControllers } from './controllers.ts';
import { openDirectory, otherClusters } from './directory.ts';
import type { UpFlags } from './flags.ts';
import { type Access, serverUrl, userFile, writeAccess } from './kubeconfig.ts';
import { freePort, opening } from './listen.ts';
import { tokenSigner } from './service-account-tokens.ts';
import { settle } from './settings.ts';
import type { Steps } from './steps.ts';
import { history, openStore } from './store.ts';

export interface StartOptions {
  readonly flags: UpFlags;
  readonly steps: Steps;
  readonly cleanup: Cleanup;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

/** Lookups on nobody's behalf. */
const SYSTEM: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

export async function start({ flags, steps, cleanup, log, clock, random }: StartOptions): Promise<void> {
  steps.line(`Quarterdeck ${version}, cluster "${flags.name}"`);
  const home = join(homedir(), '.quarterdeck');
  const path = resolve(flags.dataDir ?? join(home, flags.name));

  const directory = await steps.run('directory', async (say) => {
    const opened = await openDirectory(path);
    cleanup.add(() => opened.release());
    say(opened.isNew ? `${path} (new)` : path);
    return opened;
  });

  const found = await settle(flags, directory.remembered, () => otherClusters(home, path));
  const settings = found.port === 0 ? { ...found, port: await freePort(found.bindAddress) } : found;
  const { bindAddress, port, serviceClusterIpRange, serviceNodePortRange } = settings;

  const pki = await steps.run('certificates', async (say) => {
    const names = servingNames(bindAddress, serviceClusterIpRange);
    const opened = await openPki({ directory: join(path, 'pki'), names, clock, random });
    say(opened.made.length > 0 ? `made ${opened.made.join(', ')}` : 'unchanged');
    return opened;
  });

  const store = await steps.run('store', async (say) => {
    const opened = await openStore({ settings, flags, directory: path, clock, log });
    cleanup.add(() => opened.close());
    say(`${settings.store}, revision ${await opened.revision()}`);
    return opened;
  });

  const server = await steps.run('API', async (say) => {
    const created = await createServer({
      store,
      kinds: allKinds,
      clock,
      random,
      log,
      serviceClusterIpRange,
      serviceNodePortRange: `${serviceNodePortRange.first}-${serviceNodePortRange.last}`,
      ...history(flags),
      advertise: { address: advertisedAddress(bindAddress, serviceClusterIpRange), port },
    });
    cleanup.add(async () => created.close());
    say(`${allKinds.length} kinds`);
    return created;
  });

  let isReady = false;
  const http = await steps.run('HTTPS', async (say) => {
    const { handle, registry } = server;
    const { serviceAccountKey } = pki;
    const listeners = createHttpServer({
      handle,
      registry,
      tls: {
        key: pki.serving.key,
        cert: pki.serving.certificate,
        ca: await clientAuthorities(pki.authority, flags.clientCaFile),
      },
      authenticate: await authentication({ flags, clock, serviceAccountKey, handle, user: SYSTEM }),
      log,
      clock,
      version: apiVersion,
      isReady: () => isReady,
    });
    cleanup.add(() => listeners.close());
    await opening(bindAddress, port, '--port', () => listeners.listen(port, bindAddress));
    say(serverUrl(bindAddress, port));
    return listeners;
  });

  if (flags.insecurePort > 0) {
    await steps.run('plain HTTP', async (say) => {
      await opening('127.0.0.1', flags.insecurePort, '--insecure-port', () =>
        http.listenInsecure(flags.insecurePort, '127.0.0.1'),
      );
      say(`http://127.0.0.1:${flags.insecurePort}, without authentication`);
    });
  }

  await steps.run('controllers', async (say) => {
    const controllers = allControllers({
      kinds: () => server.registry.kinds,
      authority: pki.authority,
      mintToken: tokenSigner(pki.serviceAccountKey),
    });
    cleanup.add(startControllers(controllers, server.handle, { clock, random, log }));
    say(controllers.map(({ name }) => name).join(', '));
  });

  await directory.remember(settings);
  const kubeconfig = await steps.run('kubeconfig', async (say) => {
    const access: Access = {
      name: flags.name,
      server: serverUrl(bindAddress, port),
      ca: pki.authority,
      cert: pki.admin.certificate,
      key: pki.admin.key,
    };
    return publish(access, say);
  });

  isReady = true;
  const seconds = (performance.now() / 1_000).toFixed(2);
  log.info('ready', { server: serverUrl(bindAddress, port), seconds: Number(seconds) });
  steps.line(`\nReady in ${seconds} s: ${serverUrl(bindAddress, port)}\n${nextSteps(kubeconfig, flags.name)}`);

  /** Resolves with what kubectl must be told to find the cluster: a file, or nothing when its own has it. */
  async function publish(access: Access, say: (detail: string) => void): Promise<string | undefined> {
    if (flags.kubeconfig !== undefined) {
      const file = resolve(flags.kubeconfig);
      await writeAccess(file, access, clock);
      say(file);
      return file;
    }
    const own = join(path, 'admin.kubeconfig');
    await writeAccess(own, access, clock);
    const users = userFile(process.env, homedir());
    try {
      await writeAccess(users, access, clock);
      say(`context "${flags.name}" in ${users}`);
      return undefined;
    } catch (error) {
      // The cluster can be used without: the person's own file is theirs, and may be kept from us.
      say(`${own}; ${users} was left alone: ${explain(error)}`);
      return own;
    }
  }
}

function nextSteps(kubeconfig: string | undefined, name: string): string {
  const how = kubeconfig === undefined ? `kubectl --context ${name}` : `kubectl --kubeconfig ${kubeconfig}`;
  return [
    '',
    'Next:',
    `  ${how} get namespaces`,
    `  ${how} apply -f examples/first-walk`,
    '',
    'Ctrl-C stops the cluster; the next start goes on where it was.',
  ].join('\n');
}
