/**
 * Tests every option that names a file or a directory on the command line with unusable ones: each is rejected with one
 * line that names the problem and the path, in words instead of a code of the system, and nothing is left.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
const IN_ONE_PROCESS = join(import.meta.dirname, 'in-one-process.cjs');
const scratch = mkdtempSync(join(tmpdir(), 'files-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const path = (name: string) => join(scratch, name);

mkdirSync(path('home'));
mkdirSync(path('directory'));
writeFileSync(path('directory/content'), '');
writeFileSync(path('empty'), '', { mode: 0o600 });
// No text, no PEM, no archive.
writeFileSync(path('garbage'), Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 151 + (i >> 3)) % 256)), {
  mode: 0o600,
});
const DIRECTORY = path('directory');
const MISSING = path('none/missing');
const BELOW_FILE = path('empty/below');
const CONTENTS = [path('empty'), path('garbage')];
const FILES = [DIRECTORY, MISSING, BELOW_FILE, ...CONTENTS];

interface Case {
  readonly program?: 'qd' | 'qdfed';
  /** Paths to put in for `PATH`. */
  readonly paths: readonly string[];
}

const UP = 'up --port 0 --nodes 0 --data-dir DATA';
const TOKEN = '--token abcdef.0123456789abcdef';
const ETCD = `${UP} --store etcd --etcd-servers https://127.0.0.1:1`;
const DNS = '--dns-provider coredns --dns-zone-name example.org.';

const CASES: readonly [command: string, Case][] = [
  ['snapshot restore PATH --data-dir EXISTING', { paths: FILES }],
  ['snapshot check PATH', { paths: FILES }],
  ['snapshot check --data-dir PATH', { paths: FILES }],
  ['snapshot save OUT --data-dir PATH', { paths: FILES }],
  ['image load PATH --data-dir EXISTING', { paths: [DIRECTORY, MISSING, BELOW_FILE] }],
  ['image ls --data-dir PATH', { paths: FILES }],
  ['image build --output PATH', { paths: [DIRECTORY, MISSING, BELOW_FILE] }],
  ['encryption show --data-dir EXISTING --encryption-key-file PATH', { paths: FILES }],
  ['encryption show --data-dir PATH', { paths: FILES }],
  ['certs show --data-dir PATH', { paths: FILES }],
  ['down --data-dir PATH', { paths: FILES }],
  ['reset --yes --data-dir PATH', { paths: FILES }],
  ['get pods --kubeconfig PATH', { paths: FILES }],
  ['proxy --port 0 --kubeconfig PATH', { paths: FILES }],
  [`${UP} --encryption-key-file PATH`, { paths: [DIRECTORY, BELOW_FILE, ...CONTENTS] }],
  [`${UP} --kubeconfig PATH`, { paths: [DIRECTORY, BELOW_FILE, path('garbage')] }],
  [`${UP} --token-auth-file PATH`, { paths: [DIRECTORY, MISSING, BELOW_FILE, path('garbage')] }],
  [`${UP} --basic-auth-file PATH`, { paths: [DIRECTORY, MISSING, BELOW_FILE, path('garbage')] }],
  [`${UP} --client-ca-file PATH`, { paths: FILES }],
  [`${UP} --requestheader-client-ca-file PATH`, { paths: FILES }],
  [`${UP} --oidc-issuer-url https://127.0.0.1:1 --oidc-client-id a --oidc-ca-file PATH`, { paths: FILES }],
  [`${UP} --authorization-mode Webhook --authorization-webhook-config-file PATH`, { paths: FILES }],
  [`${UP} --simulation PATH`, { paths: [DIRECTORY, MISSING, BELOW_FILE, path('garbage')] }],
  [`${UP} --audit-policy-file PATH`, { paths: FILES }],
  [`${UP} --audit-log-path PATH`, { paths: [DIRECTORY, BELOW_FILE] }],
  [`${UP} --audit-webhook-config-file PATH`, { paths: FILES }],
  [`${UP} --restore PATH`, { paths: FILES }],
  [`${UP} --pod-manifest-path PATH`, { paths: [MISSING, BELOW_FILE, ...CONTENTS] }],
  [`${UP} --volumes-dir PATH`, { paths: [BELOW_FILE, ...CONTENTS] }],
  [`${ETCD} --etcd-cafile PATH`, { paths: FILES }],
  [`${ETCD} --etcd-certfile PATH --etcd-keyfile PATH`, { paths: FILES }],
  ['up --port 0 --nodes 0 --data-dir PATH', { paths: [DIRECTORY, BELOW_FILE, ...CONTENTS] }],
  [`agent --server https://127.0.0.1:1 ${TOKEN} --data-dir DATA --ca-file PATH`, { paths: FILES }],
  [
    `agent --server https://127.0.0.1:1 ${TOKEN} --data-dir PATH --ca-hash sha256:${'0'.repeat(64)}`,
    { paths: [BELOW_FILE, ...CONTENTS] },
  ],
  ['federation-apiserver --secure-port 0 --tls-cert-file PATH --tls-private-key-file PATH', { paths: FILES }],
  ['federation-controller-manager --kubeconfig PATH', { paths: FILES }],
  ['join a --kubeconfig PATH', { program: 'qdfed', paths: FILES }],
  [
    `init a --host-cluster-context x --image i ${DNS} --dns-provider-config PATH`,
    { program: 'qdfed', paths: [DIRECTORY, MISSING, BELOW_FILE] },
  ],
];

const RAW_CODE = /\bE[A-Z]{3,}\b|error:[0-9A-F]{8}/;
const TIMEOUT_MS = 60_000;

/** Runs a program with each of the lists of arguments, and resolves with what it wrote to stderr and its exit codes. */
async function runs(program: string, lists: readonly (readonly string[])[]): Promise<{ code: number; said: string }[]> {
  const env = { ...process.env, HOME: path('home'), KUBECONFIG: '' };
  const args = [IN_ONE_PROCESS, join(DIST, `${program}.js`), JSON.stringify(lists)];
  const { stderr } = await promisify(execFile)(process.execPath, args, { env, timeout: 2 * TIMEOUT_MS });
  return [...stderr.matchAll(/((?:.*\n)*?)exit code (\d+)\n/g)].map(([, said = '', code]) => ({
    code: Number(code),
    said,
  }));
}

describe('a path that cannot be used is explained', () => {
  it.each(CASES)('%s', { timeout: TIMEOUT_MS * 4 }, async (command, { program = 'qd', paths }) => {
    const argsFor = (used: string) => {
      const places: Record<string, string> = {
        PATH: used,
        EXISTING: DIRECTORY,
        DATA: path(`data-${basename(used)}`),
        OUT: path('out'),
      };
      return command.split(' ').map((word) => places[word] ?? word);
    };
    const ended = await runs(program, paths.map(argsFor));
    expect(ended).toHaveLength(paths.length);
    for (const [index, { code, said }] of ended.entries()) {
      const run = `${program} ${argsFor(paths[index]!).join(' ')}: ${said}`;
      expect(code, run).toBe(1);
      const line = said.trimEnd().split('\n').at(-1);
      expect(line, run).toMatch(new RegExp(`^${program}: `));
      expect(line, run).toContain(paths[index]);
      expect(line, run).not.toMatch(RAW_CODE);
    }
    expect(readdirSync(scratch).sort()).toEqual(['directory', 'empty', 'garbage', 'home']);
  });
});
