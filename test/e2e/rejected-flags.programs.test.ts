/** Flags that cannot be used are found before anything is created. */
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longName } from '../../src/base/flag.ts';
import { explain } from '../../src/cli/output/cli-error.ts';
import { DESCRIPTION, programOf } from '../../src/cli/process/program.ts';
import { upCommand } from '../../src/cli/up/command.ts';
import { upFlags } from '../../src/cli/up/flags.ts';
import { newDirectory, runQd } from './program.ts';

/** Path of a file with useless content. */
const FILE = '{home}/file';
const MISSING = '{home}/missing';
/** A port that another program listens on. */
const TAKEN = '{port}';

/** Unusable values of every flag that takes one, with the flags that it goes with. */
const UNUSABLE: Readonly<Record<string, readonly string[]>> = {
  '--name': ['Big'],
  '--data-dir': [FILE],
  '--log-level': ['loud'],
  '--bind-address': ['192.0.2.1'],
  '--tls-san': ['*.example.org'],
  '--port': [TAKEN],
  '--insecure-port': [TAKEN],
  '--max-connections': ['0'],
  '--max-connections-per-address': ['0'],
  '--store': ['cloud'],
  '--store-dir': [FILE],
  '--remote-upgrades': ['maybe'],
  '--etcd-servers': ['http://127.0.0.1:1'],
  '--etcd-cafile': [MISSING, '--store', 'etcd', '--etcd-servers', 'https://127.0.0.1:1'],
  '--etcd-certfile': [FILE, '--store', 'etcd', '--etcd-servers', 'https://127.0.0.1:1'],
  '--etcd-keyfile': [FILE],
  '--join': ['ftp://127.0.0.1'],
  '--token': ['abc'],
  '--ca-hash': ['sha256:00'],
  '--server-name': ['Server_1', '--ha'],
  '--etcd-port': ['70000', '--ha'],
  '--etcd-peer-port': ['12380'],
  '--history-duration': ['5'],
  '--history-bytes': ['1MB'],
  '--watch-history-duration': ['0'],
  '--watch-history-bytes': ['1MB'],
  '--encryption-key-file': [FILE],
  '--backups': ['maybe'],
  '--backup-to': [FILE],
  '--backup-keep': ['24'],
  '--backup-passphrase-file': [MISSING],
  '--backup-recipient': ['age1wrong'],
  '--kubeconfig': [FILE],
  '--token-auth-file': [MISSING],
  '--basic-auth-file': [FILE],
  '--client-ca-file': [FILE],
  '--requestheader-client-ca-file': [FILE],
  '--requestheader-allowed-names': ['proxy'],
  '--requestheader-username-headers': ['X-User'],
  '--requestheader-group-headers': ['X-Group'],
  '--requestheader-extra-headers-prefix': ['X-Extra-'],
  '--anonymous-auth': ['maybe'],
  '--service-account-issuer': [':'],
  '--api-audiences': ['a,,b'],
  '--service-account-max-token-expiration': ['5m'],
  '--service-account-extend-token-expiration': ['maybe'],
  '--cluster-signing-duration': ['5'],
  '--oidc-issuer-url': ['https://issuer.example'],
  '--oidc-client-id': ['me'],
  '--oidc-username-claim': ['email'],
  '--oidc-username-prefix': ['-'],
  '--oidc-groups-claim': ['groups'],
  '--oidc-groups-prefix': ['oidc:'],
  '--oidc-required-claim': ['a=b'],
  '--oidc-ca-file': [FILE, '--oidc-issuer-url', 'https://issuer.example', '--oidc-client-id', 'me'],
  '--oidc-signing-algs': ['none'],
  '--authorization-mode': ['ABAC'],
  '--authorization-webhook-config-file': [MISSING, '--authorization-mode', 'Webhook'],
  '--enable-admission-plugins': ['NoSuch'],
  '--disable-admission-plugins': ['NoSuch'],
  '--enable-priority-and-fairness': ['maybe'],
  '--max-requests-inflight': ['0', '--max-mutating-requests-inflight', '0'],
  '--max-mutating-requests-inflight': ['many'],
  '--request-timeout': ['0s'],
  '--service-cluster-ip-range': ['10.0.0.1/8'],
  '--service-node-port-range': ['5'],
  '--controllers': ['*,-nobody'],
  '--runtime': ['imaginary'],
  '--node-name': ['Machine_1'],
  '--container-runtime-endpoint': [FILE, '--runtime', 'containerd'],
  '--registry-mirror': ['docker.io'],
  '--insecure-registry': ['http://lab:5000'],
  '--node-labels': ['disk'],
  '--register-with-taints': ['gpu=true'],
  '--max-pods': ['0'],
  '--pod-max-pids': ['0'],
  '--allow-host-image': ['maybe'],
  '--system-reserved': ['cpu=lots'],
  '--kube-reserved': ['gpu=1'],
  '--eviction-hard': ['memory.free<1Gi'],
  '--allowed-unsafe-sysctls': ['net x'],
  '--allowed-dial-ranges': ['127.0.0.0/33'],
  '--pod-manifest-path': [MISSING],
  '--pod-routes': ['teleport'],
  '--live-config-volumes': ['maybe'],
  '--nodes': ['50001'],
  '--simulation': [FILE],
  '--cluster-cidr': ['10.0.0.0/27', '--nodes', '9'],
  '--cluster-domain': ['not a domain'],
  '--ingress': ['maybe'],
  '--wait': ['maybe'],
  '--ingress-http-port': ['70000'],
  '--ingress-https-port': ['many'],
  '--ingress-share-hosts': ['maybe'],
  '--ingress-allow-external-names': ['maybe'],
  '--volumes-dir': [FILE],
  '--audit-policy-file': [FILE],
  '--audit-log-path': [`${FILE}/below`],
  '--audit-log-maxage': ['old'],
  '--clock': ['manual', '--runtime', 'process', '--nodes', '1'],
  '--restore': [FILE],
  '--audit-log-maxbackup': ['some'],
  '--audit-log-maxsize': ['0'],
  '--audit-log-format': ['legacy'],
  '--audit-webhook-config-file': [MISSING],
  '--audit-webhook-initial-backoff': ['5'],
  '--audit-webhook-mode': ['blocking'],
  '--audit-webhook-version': ['audit.k8s.io/v0'],
  '--audit-webhook-batch-buffer-size': ['0'],
  '--audit-webhook-batch-max-size': ['0'],
  '--audit-webhook-batch-max-wait': ['5'],
  '--audit-webhook-batch-throttle-enable': ['maybe'],
  '--audit-webhook-batch-throttle-qps': ['0'],
  '--audit-webhook-batch-throttle-burst': ['0'],
  '--audit-webhook-truncate-enabled': ['maybe'],
  '--audit-webhook-truncate-max-batch-size': ['1', '--audit-webhook-config-file', '{home}/webhook'],
  '--audit-webhook-truncate-max-event-size': ['0'],
};

/** Combinations that a start must reject, and files and addresses that only it can know. */
const MORE: readonly (readonly string[])[] = [
  ['--enable-admission-plugins', 'PodSecurity', '--disable-admission-plugins', 'PodSecurity'],
  ['--authorization-mode', 'Webhook'],
  ['--audit-policy-file', '{home}/policy', '--audit-log-path', ''],
  ['--store', 'etcd', '--etcd-servers', 'http://127.0.0.1:1'],
  ['--ha', '--store', 'embedded'],
  ['--join', 'https://127.0.0.1:1'],
  ['--service-account-issuer', 'https://a.example', '--oidc-issuer-url', 'https://a.example', '--oidc-client-id', 'me'],
  ['--name', 'dev', '--bind-address', '192.0.2.1'],
  ['--insecure-port', '23456', '--port', '23456'],
  ['--encryption-key-file', `${FILE}/below`],
  ['--kubeconfig', '{home}'],
  ['--data-dir', '{home}'],
  ['--cluster-cidr', '10.96.0.0/12'],
  ['--container-runtime-endpoint', MISSING, '--runtime', 'containerd'],
  ['--container-runtime-endpoint', FILE, '--runtime', 'simulated'],
  ['--nodes', '33', '--runtime', 'process'],
  ['--data-dir', ''],
  ['--kubeconfig', ''],
  ['--bogus'],
];

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c}}]
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
`;

/** A start that is not rejected would run forever. */
const MAX_RUN_MS = 15_000;

let listener: Server;
let port: string;
beforeAll(async () => {
  listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  port = String((listener.address() as { port: number }).port);
});
afterAll(() => void listener.close());

test('every flag that takes a value is tested', () => {
  const takeValues = upFlags.filter(({ spec }) => /[<[]/.test(spec)).map(longName);
  expect(Object.keys(UNUSABLE).sort()).toEqual(takeValues.sort());
});

/**
 * The error of flags that the parser of the command line rejects, before anything of the start is loaded. It is asked in this
 * process: that the program prints such an error and exits with code 1 is tested in usage.programs.test.ts.
 */
async function parserError(args: readonly string[]): Promise<string | undefined> {
  const program = programOf('qd', DESCRIPTION, [upCommand().action(() => undefined)]);
  return program.parseAsync(args, { from: 'user' }).then(() => undefined, explain);
}

describe.concurrent('of a start that is rejected, nothing remains', () => {
  const cases = [...Object.entries(UNUSABLE).map(([flag, values]) => [flag, ...values]), ...MORE];

  test.for(cases)('%j', async (args, { expect }) => {
    const home = await newDirectory();
    try {
      await writeFile(join(home, 'file'), 'just some words\n');
      await writeFile(join(home, 'policy'), 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n');
      await writeFile(join(home, 'webhook'), KUBECONFIG);
      const flags = args.map((arg) => arg.replace('{home}', home).replace('{port}', port));
      const before = await contentsOf(home);
      const env = { HOME: home, KUBECONFIG: join(home, 'kubeconfig') };
      const command = ['up', ...(args.includes('--port') ? [] : ['--port', '0']), '--log-level', 'error', ...flags];
      let error = await parserError(command);
      if (error === undefined) {
        const { code, stderr, stdout } = await runQd(command, { env, timeout: MAX_RUN_MS });
        expect(stderr).toMatch(/^qd: [^\n]+\n$/);
        expect(code).toBe(1);
        // Only the start of the store finds out that etcd cannot be reached.
        if (!args.includes('etcd')) expect(stdout).toBe('');
        error = stderr;
      }
      const named = flags.filter((arg) => arg.length > 2);
      expect(
        named.some((arg) => error.includes(arg)),
        error,
      ).toBe(true);
      expect(await contentsOf(home)).toEqual(before);
    } finally {
      await rm(home, { recursive: true });
    }
  });

  test('most flags are rejected by the parser, and those of files and addresses by the start', async ({ expect }) => {
    expect(await parserError(['up', '--store', 'cloud'])).toMatch(
      /^option '--store <store>' argument 'cloud' is invalid/,
    );
    expect(await parserError(['up', '--token-auth-file', '/missing'])).toBeUndefined();
  });

  test('not even in a directory that exists', async ({ expect }) => {
    const home = await newDirectory();
    try {
      const data = join(home, 'data');
      await mkdir(data, { mode: 0o755 });
      const before = await contentsOf(home);
      const { code } = await runQd(['up', '--data-dir', data, '--port', '0', '--controllers', 'nobody'], {
        timeout: MAX_RUN_MS,
      });
      expect(code).toBe(1);
      expect(await contentsOf(home)).toEqual(before);
    } finally {
      await rm(home, { recursive: true });
    }
  });

  test('not even in a directory of something else, which is rejected', async ({ expect }) => {
    const home = await newDirectory();
    try {
      await writeFile(join(home, 'notes.txt'), 'mine');
      const before = await contentsOf(home);
      const { code, stderr } = await runQd(['up', '--data-dir', home, '--port', '0'], { timeout: MAX_RUN_MS });
      expect(code).toBe(1);
      expect(stderr).toBe(
        `qd: ${home} is not empty and is not the data directory of a cluster (it has notes.txt); choose another with --data-dir\n`,
      );
      expect(await contentsOf(home)).toEqual(before);
    } finally {
      await rm(home, { recursive: true });
    }
  });
});

/** Returns every file and folder below, with its mode and content. */
async function contentsOf(directory: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const name of ['', ...(await readdir(directory, { recursive: true }))].sort()) {
    const path = join(directory, name);
    const info = await stat(path);
    const content = info.isFile() ? await readFile(path, 'utf8') : '';
    found[name] = `${info.mode.toString(8)} ${content}`;
  }
  return found;
}
