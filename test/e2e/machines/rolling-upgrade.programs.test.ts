/**
 * `qd upgrade --all` takes three servers and their agents to another release, and back, and stops at a server where that does not
 * start.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nextMinor } from '../../../src/api/release.ts';
import { contextConnection } from '../../../src/cli/flags/connection.ts';
import { type Client, createClient } from '../../../src/client/client.ts';
import { type HttpsTransport, httpsTransport } from '../../../src/client/transport/http/https-transport.ts';
import { Lease } from '../../../src/kinds/groups/coordination/lease.ts';
import { Node } from '../../../src/kinds/groups/core/node/node.ts';
import { type Registry, startRegistry } from '../../package/registry.ts';
import { etcdMissing } from '../../support/etcd.ts';
import { buildRelease, presentRelease } from '../../support/releases.ts';
import { type Landscape, linksAt, type MachineName, openLandscape } from './landscape.ts';

const isInstalled = existsSync('/usr/sbin/nft') && process.getuid?.() === 0;
const skip = etcdMissing() ?? (isInstalled ? undefined : 'nft is not installed, or this is not root');
if (skip) console.log(`skipped: ${skip}`);

const LINKS = linksAt(226);
const TIMEOUT_MS = 600_000;
const ROOT = join(import.meta.dirname, '..', '..', '..');
const MACHINES = { m1: 'a', m2: 'b', m3: 'c' } as const satisfies Record<string, MachineName>;
type Machine = keyof typeof MACHINES;
const SERVERS = 'apiserver.kubernetes.io/identity=kube-apiserver';
const VERSION = 'apiserver.kubernetes.io/version';
/** The new release does not start for a user who has this file in the home directory. */
const REFUSED = 'refuses-release';
const AGENT_NODE = 'worker';
const SECOND_NODE = 'worker-2';

const execute = promisify(execFile);

describe.skipIf(skip !== undefined)('qd upgrade --all', () => {
  let landscape: Landscape;
  let directory: string;
  let registry: Registry;
  let tarball: string;
  let formerTarball: string;
  let former: string;
  let version: string;
  let transport: HttpsTransport;
  let client: Client;

  /** Runs a command on a machine, which has a name and a home directory of its own. */
  const run = async (machine: Machine, command: string) => {
    const inside = ['/bin/sh', '-c', 'hostname "$0" && exec /bin/sh -ec "$1"', machine, command];
    const [first = '', ...rest] = [...landscape.enter(MACHINES[machine]), '/usr/bin/unshare', '--uts', ...inside];
    const path = [join(directory, 'bin'), dirname(process.execPath), '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
    const env = {
      PATH: path.join(delimiter),
      HOME: join(directory, machine),
      npm_config_registry: registry.url,
      npm_config_cache: join(directory, 'cache'),
    };
    return execute(first, rest, { env }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  };
  const succeed = async (machine: Machine, command: string): Promise<string> => {
    const { code, stdout, stderr } = await run(machine, command);
    expect(code, `${command}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  const joinFlags = (printed: string) => /--token \S+ --ca-hash \S+/.exec(printed)![0];

  const leases = () => client.of(Lease).in('kube-system');
  /** The releases of the servers, by machine. */
  const releases = async (): Promise<Record<string, string>> => {
    const { items } = await leases().list({ labelSelector: SERVERS });
    return Object.fromEntries(
      items
        .map(({ metadata: { labels, annotations } }) => [labels?.['kubernetes.io/hostname'], annotations?.[VERSION]])
        .sort(),
    );
  };
  const leader = async () => (await leases().get('kube-controller-manager')).spec?.holderIdentity?.replace(/_.*/, '');
  const agentVersion = async (machine: Machine = 'm3') => {
    const text = await readFile(join(directory, machine, '.quarterdeck', 'agent', 'agent.json'), 'utf8');
    return JSON.parse(text).version;
  };
  /** The servers in the order in which they were begun with. */
  const begun = (stdout: string) => [...stdout.matchAll(/^Upgrading server (\S+) /gm)].map(([, name]) => name);
  const machineAt = (address = '') =>
    Object.entries(MACHINES).find(([, name]) => address.startsWith(`${LINKS.addresses[name]}:`))?.[0];

  /** Resolves with the package file of a folder. */
  const pack = async (folder: string): Promise<string> => {
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', join(directory, 'packed')];
    const { stdout } = await execute('npm', args, { cwd: folder });
    return join(directory, 'packed', JSON.parse(stdout.slice(stdout.indexOf('[')))[0].filename);
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'qd-rolling-'));
    for (const name of ['bin', 'packed', ...Object.keys(MACHINES)]) await mkdir(join(directory, name));
    landscape = openLandscape(LINKS);
    registry = await startRegistry(ROOT, join(directory, 'registry'), LINKS.own);
    const present = await presentRelease();
    former = present.version;
    version = `${nextMinor(former)}.0`;
    const newer = await buildRelease({ release: { version, level: present.level } }, join(directory, 'newer'));
    const program = join(newer.dist, 'qd.js');
    const [shebang = '', ...rest] = (await readFile(program, 'utf8')).split('\n');
    const refusal = `if (/^(up|agent)$/.test(process.argv[2]) && require('node:fs').existsSync(process.env.HOME + '/${REFUSED}')) process.exit(3);`;
    await writeFile(program, [shebang, refusal, ...rest].join('\n'));
    tarball = await pack(join(directory, 'newer'));
    formerTarball = await pack(ROOT);
    await symlink(join(ROOT, 'bin', 'qd.cjs'), join(directory, 'bin', 'qd'));
    const flags = '--nodes 0 --runtime simulated --detach';
    await succeed('m1', `qd up --ha --bind-address ${LINKS.addresses.a} ${flags}`);
    const ofServers = joinFlags(await succeed('m1', 'qd token create --server'));
    for (const machine of ['m2', 'm3'] as const) {
      await succeed(machine, `qd up --join https://${LINKS.addresses.a}:6443 ${ofServers} ${flags}`);
    }
    const ofNodes = joinFlags(await succeed('m1', 'qd token create'));
    await succeed(
      'm3',
      `qd agent --server https://${LINKS.addresses.a}:6443 ${ofNodes} --node-name ${AGENT_NODE} --runtime process --remote-upgrades=false --detach`,
    );
    const kubeconfig = join(directory, 'm1', '.quarterdeck', 'quarterdeck', 'admin.kubeconfig');
    transport = httpsTransport(await contextConnection({ kubeconfig }));
    client = createClient(transport);
  }, TIMEOUT_MS);

  afterAll(async () => {
    transport?.close();
    await run('m3', `qd reset --yes --name ${AGENT_NODE}`);
    await run('m2', `qd reset --yes --name ${SECOND_NODE}`);
    for (const machine of ['m3', 'm2', 'm1'] as const) {
      await run(machine, 'qd reset --yes --delete-encryption-key --name quarterdeck');
    }
    await registry?.close();
    landscape?.close();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test(
    'stops at the second server, which goes back, and says what runs which release',
    async () => {
      await expect.poll(releases, { timeout: 30_000 }).toEqual({ m1: former, m2: former, m3: former });
      const last = await leader();
      // Neither the first nor the last: the one that is second among those that do not lead.
      const { items } = await leases().list({ labelSelector: SERVERS });
      const order = items
        .map(({ metadata }) => metadata.labels?.['kubernetes.io/hostname'])
        .filter((name) => name !== last);
      const [first, second] = order as [Machine, Machine];
      await writeFile(join(directory, second, REFUSED), '');
      const { code, stdout, stderr } = await run('m1', `qd upgrade ${tarball} --all`);
      expect(code, stdout + stderr).toBe(1);
      expect(begun(stdout).map(machineAt)).toEqual([first, second]);
      expect(stderr).toContain(`the upgrade to ${version} failed; cluster "quarterdeck" runs with ${former} as before`);
      expect(stderr).toContain('Run the same command again');
      const lineOf = (machine: string) =>
        stdout.split('\n').find((line: string) => line.includes(`(${machine})`) && / {2}/.test(line));
      expect(lineOf(first)).toMatch(new RegExp(`${version} +done`));
      expect(lineOf(second)).toMatch(new RegExp(`${former} +failed`));
      expect(lineOf(last!)).toMatch(new RegExp(`${former} +not begun`));
      expect(stdout).toMatch(new RegExp(`^agent ${AGENT_NODE} +${former} +left out: it takes no packages`, 'm'));
      await expect
        .poll(releases, { timeout: 20_000 })
        .toEqual({ m1: former, m2: former, m3: former, [first]: version });
      expect(await agentVersion()).toBe(former);
      await rm(join(directory, second, REFUSED));
    },
    TIMEOUT_MS,
  );

  test(
    'goes on with the others, the leader after the other servers, and then the agent',
    async () => {
      const last = await leader();
      await succeed('m3', `qd down --keep-pods --name ${AGENT_NODE}`);
      await succeed('m3', 'qd agent --remote-upgrades=true --detach');
      const present = await releases();
      const stdout = await succeed('m1', `qd upgrade ${tarball} --all`);
      const open = Object.keys(present).filter((name) => present[name] === former);
      const order = begun(stdout).map(machineAt);
      expect([...order].sort()).toEqual(open);
      expect(order.at(-1)).toBe(last);
      expect(stdout.indexOf(`Upgrading agent ${AGENT_NODE}`)).toBeGreaterThan(stdout.lastIndexOf('Upgrading server'));
      expect(await releases()).toEqual({ m1: version, m2: version, m3: version });
      expect(await agentVersion()).toBe(version);
      const { status } = await client.of(Node).get(AGENT_NODE);
      expect(status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
      const again = await succeed('m1', `qd upgrade ${tarball} --all`);
      expect(again.match(/not needed/g)).toHaveLength(4);
      expect(begun(again)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'goes back, with both agents at the same time before the servers, and keeps the release that it leaves',
    async () => {
      const flags = joinFlags(await succeed('m1', 'qd token create'));
      await succeed(
        'm2',
        `qd agent --server https://${LINKS.addresses.a}:6443 ${flags} --node-name ${SECOND_NODE} --runtime process --detach`,
      );
      // It was started with the program on the PATH.
      await succeed('m2', `qd upgrade ${tarball} --name ${SECOND_NODE}`);
      const last = await leader();
      const stdout = await succeed('m1', `qd upgrade ${formerTarball} --all --parallel 2`);
      const agents = [...stdout.matchAll(/^(?:Upgrading a|A)gent (\S+) (from|runs)/gm)].map(([, , word]) => word);
      expect(agents).toEqual(['from', 'from', 'runs', 'runs']);
      expect(stdout.indexOf('Upgrading server')).toBeGreaterThan(stdout.lastIndexOf('Agent '));
      expect(begun(stdout)).toHaveLength(3);
      expect(machineAt(begun(stdout).at(-1))).toBe(last);
      expect(await releases()).toEqual({ m1: former, m2: former, m3: former });
      for (const machine of ['m2', 'm3'] as const) expect(await agentVersion(machine)).toBe(former);
      expect(await readdir(join(directory, 'm1', '.quarterdeck', '.releases'))).toHaveLength(2);
    },
    TIMEOUT_MS,
  );
});
