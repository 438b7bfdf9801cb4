/** Runs the commands of docs/machines.md as a reader would, with network namespaces as machines. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textOf } from '../../docs/documents.ts';
import { etcdMissing } from '../../support/etcd.ts';
import { kubectls } from '../kubectl.ts';
import { type Landscape, linksAt, type MachineName, openLandscape } from './landscape.ts';

const kubectl = [...kubectls.map(({ program }) => program), '/usr/bin/kubectl'].find((program) => existsSync(program));
const isInstalled = existsSync('/usr/sbin/nft') && process.getuid?.() === 0;
const missing = isInstalled ? (kubectl ?? 'kubectl is missing') : 'nft is not installed, or this is not root';
const skip = etcdMissing() ?? (missing === kubectl ? undefined : missing);
if (skip) console.log(`skipped: ${skip}`);

const LINKS = linksAt(240);
const TIMEOUT_MS = 120_000;
/** The machines of the page. */
const MACHINES: Readonly<Record<string, MachineName>> = { m1: 'a', m2: 'b', m3: 'c' };
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Commands of a block, and the machines that its comment names. */
interface Part {
  readonly machines: readonly string[];
  readonly commands: readonly string[];
}

/** The parts of all blocks that name a machine: those of `text` blocks have placeholders. */
function partsOf(text: string): Part[] {
  return [...text.matchAll(/^```(?:sh|text)\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/^(?=# on )/m)
      .filter((part) => part.startsWith('# on '))
      .map((part) => {
        const [first = '', ...commands] = part.trim().split('\n');
        return { machines: first.match(/\bm\d\b/g) ?? [], commands };
      }),
  );
}

describe.skipIf(skip !== undefined)('docs/machines.md', () => {
  let landscape: Landscape;
  let directory: string;

  /** Runs a command in a shell on a machine, which has a name and a home directory of its own. */
  const run = async (machine: string, command: string): Promise<string> => {
    const inside = ['/bin/sh', '-c', 'hostname "$0" && exec /bin/sh -ec "$1"', machine, command];
    const [first = '', ...rest] = [...landscape.enter(MACHINES[machine]!), '/usr/bin/unshare', '--uts', ...inside];
    const path = [join(directory, 'bin'), dirname(process.execPath), '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
    const env = { PATH: path.join(delimiter), HOME: join(directory, machine), GOGC: process.env.GOGC };
    const { stdout } = await promisify(execFile)(first, rest, { env });
    return stdout;
  };

  const resetAll = async (machine: string) => {
    for (const { name } of JSON.parse(await run(machine, 'qd list --json'))) {
      await run(machine, `qd reset --yes --delete-encryption-key --name ${name}`);
    }
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'qd-documented-'));
    for (const name of ['bin', ...Object.keys(MACHINES)]) await mkdir(join(directory, name));
    await symlink(join(ROOT, 'bin', 'qd.cjs'), join(directory, 'bin', 'qd'));
    await symlink(kubectl!, join(directory, 'bin', 'kubectl'));
    landscape = openLandscape(LINKS);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await Promise.all(Object.keys(MACHINES).map(resetAll));
    landscape?.close();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test('takes a cluster from one machine to three, with its commands', { timeout: TIMEOUT_MS }, async () => {
    const parts = partsOf(textOf('docs/machines.md'));
    const outputs = new Map<string, string>();
    let last = '';
    for (const { machines, commands } of parts) {
      for (const command of commands) {
        const runnable = runnableFor(command, last);
        const printed = await Promise.all(machines.map((machine) => run(machine, runnable)));
        outputs.set(command, (outputs.get(command) ?? '') + printed.join(''));
        if (command.startsWith('qd token create')) last = printed.join('');
      }
    }
    expect(
      outputs
        .get('qd server list')
        ?.match(/\bm\d\b/g)
        ?.sort(),
    ).toEqual(['m1', 'm1', 'm2', 'm2', 'm3', 'm3']);
    expect(outputs.get('kubectl get --raw /readyz')).toContain('ok');
    const waiting = 'kubectl wait --for=condition=Ready node --all --timeout=60s';
    expect(outputs.get(waiting)?.match(/\bm\d condition met/g)).toHaveLength(3);
    expect(outputs.get('kubectl get configmap written-without-m1')).toContain('written-without-m1');
    expect(outputs.get('qd server remove m3')).toBeDefined();
  });
});

/** Puts what `qd token create` has printed in the place of placeholders, and this test's address in that of the page. */
function runnableFor(command: string, printed: string): string {
  const here = command.replaceAll('10.0.0.1', LINKS.addresses.a);
  if (!command.includes('ID.SECRET')) return here;
  const token = /--token (\S+)/.exec(printed)?.[1] ?? 'no token was printed';
  const hash = /sha256:\S+/.exec(printed)?.[0] ?? 'no hash was printed';
  const complete = here.replace('ID.SECRET', token).replace('sha256:HASH', hash);
  const [shown = 'no command was printed'] = printed.match(/^\s*qd (?:up|agent) .*$/m) ?? [];
  expect(complete).toBe(`${shown.trim()} --detach`);
  // Not the containerd that this machine may have.
  return complete.startsWith('qd agent') ? `${complete} --runtime process` : complete;
}
