import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import { connectionOf, loadKubeconfig, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts';
import { removeContext, writeContext } from './kubeconfig-file.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

function config(parts: { cluster?: object; user?: object; context?: object; current?: string }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://one:6443', ...parts.cluster } }],
    users: [{ name: 'u', user: parts.user ?? {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...parts.context } }],
    'current-context': parts.current ?? 'x',
  });
}

describe('reading', () => {
  it('returns the connection of the current context, with embedded data decoded', async () => {
    const text = config({
      cluster: { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'kubernetes' },
      user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
      context: { namespace: 'team' },
    });
    expect(await connectionOf(parseKubeconfig(text, '/home/me/config'))).toEqual({
      server: 'https://one:6443',
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
      tlsServerName: 'kubernetes',
      namespace: 'team',
    });
  });

  it('finds named files beside the configuration, and prefers embedded data and the token file', async () => {
    await mkdir(join(directory, 'pki'));
    await writeFile(join(directory, 'pki/ca.crt'), 'FILE CA');
    await writeFile(join(directory, 'token'), 'from-file\n');
    const text = config({
      cluster: { 'certificate-authority': 'pki/ca.crt', 'insecure-skip-tls-verify': true },
      user: { tokenFile: 'token', token: 'inline', 'client-key': 'missing', 'client-key-data': base64('KEY') },
    });
    await writeFile(join(directory, 'config'), text);
    expect(await connectionOf(await loadKubeconfig([join(directory, 'config')]))).toEqual({
      server: 'https://one:6443',
      ca: 'FILE CA',
      key: 'KEY',
      token: 'from-file',
      insecureSkipTlsVerify: true,
    });
  });

  it('merges a list of files: the first that names something wins, and missing files are passed over', async () => {
    const first = config({ current: '', user: { token: 'first' } });
    const second = config({ current: 'y', user: { token: 'second' } }).replace('"name":"x"', '"name":"y"');
    await writeFile(join(directory, 'a'), first);
    await writeFile(join(directory, 'b'), second);
    const merged = await loadKubeconfig(['a', 'none', 'b'].map((name) => join(directory, name)));
    expect([...merged.contexts.keys()].sort()).toEqual(['x', 'y']);
    expect(merged.currentContext).toBe('y');
    expect((await connectionOf(merged)).token).toBe('first');
  });

  it.each([
    ['exec', { command: 'login-helper' }],
    ['auth-provider', { name: 'oidc' }],
    ['as', 'somebody'],
  ])('explains that a user with %s is not supported', async (field, value) => {
    const parsed = parseKubeconfig(config({ user: { [field]: value } }), 'config');
    await expect(connectionOf(parsed)).rejects.toThrow(`user "u" uses "${field}", which is not supported`);
  });

  it.each([
    ['a context that does not exist', config({ current: 'z' }), 'context "z" does not exist'],
    ['no current context', config({ current: '' }), 'no context is current: name one'],
    ['an unknown cluster', config({ context: { cluster: 'k' } }), 'cluster "k" of context "x" does not exist'],
    ['an unknown user', config({ context: { user: 'v' } }), 'user "v" of context "x" does not exist'],
    ['a cluster without a server', config({ cluster: { server: '' } }), 'cluster "c" has no server'],
    ...['garbage', '127.0.0.1:6443', 'localhost:6443', 'ftp://127.0.0.1', 'https://127.0.0.1:99999'].map((server) => [
      ...[`the server ${server}`, config({ cluster: { server } })],
      `the server "${server}" of cluster "c" is not a URL such as https://127.0.0.1:6443`,
    ]),
    ['a missing file', config({ user: { 'client-key': '/none' } }), 'cannot read client-key /none: it does not exist'],
  ])('explains the problem with %s', async (_, text, message) => {
    await expect(connectionOf(parseKubeconfig(text, 'config'))).rejects.toThrow(message);
  });

  it.each([
    ['{', 'config is not valid YAML'],
    ['[]', 'config is not a client configuration'],
    ['clusters: {}', 'clusters in config is not a list'],
    ['users: [{}]', 'an entry of users in config has no name'],
  ])('rejects the text %s', (text, message) => {
    expect(() => parseKubeconfig(text, 'config')).toThrow(message);
  });

  it('treats an empty file as an empty configuration', () => {
    expect(mergeKubeconfigs([parseKubeconfig('', 'config')]).contexts.size).toBe(0);
  });
});

const entry = { name: 'qd', server: 'https://127.0.0.1:6443', ca: 'CA', cert: 'CERT', key: 'KEY', current: true };

describe('writing', () => {
  it('creates a file that only its owner can read, and that can be read back', async () => {
    const file = join(directory, 'deep/er/config');
    await writeContext(file, entry, systemClock);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await connectionOf(await loadKubeconfig([file]))).toEqual({
      server: entry.server,
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
    });
    expect(await readdir(join(directory, 'deep/er'))).toEqual(['config']);
  });

  it("keeps everything else in the user's file: comments, unknown fields and other entries", async () => {
    const file = join(directory, 'config');
    const own = [
      '# mine',
      'apiVersion: v1',
      'kind: Config',
      'preferences: {colors: true}',
      'x-tool: {answer: 42} # keep',
      'clusters:',
      '- cluster:',
      '    server: https://work:6443',
      '    extensions: [{name: e, extension: {a: "no"}}]',
      '  name: work',
      'users:',
      '- name: work',
      '  user: {exec: {command: login}} # not ours',
      'contexts:',
      '- {name: work, context: {cluster: work, user: work}}',
      'current-context: work',
      '',
    ];
    await writeFile(file, own.join('\n'), { mode: 0o644 });
    await writeContext(file, { ...entry, current: false }, systemClock);
    const text = await readFile(file, 'utf8');
    for (const kept of [
      '# mine',
      'colors: true',
      'answer: 42',
      '# keep',
      '"no"',
      '# not ours',
      'current-context: work',
    ]) {
      expect(text).toContain(kept);
    }
    expect(text).not.toContain('%YAML');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const merged = await loadKubeconfig([file]);
    expect([...merged.contexts.keys()]).toEqual(['work', 'qd']);

    await removeContext(file, 'qd', systemClock);
    const after = await loadKubeconfig([file]);
    expect([...after.contexts.keys(), ...after.clusters.keys(), ...after.users.keys()]).toEqual([
      'work',
      'work',
      'work',
    ]);
    expect(after.currentContext).toBe('work');
  });

  it('replaces an earlier entry of the same name, old credentials included', async () => {
    const file = join(directory, 'config');
    await writeContext(file, { ...entry, token: 'old' }, systemClock);
    await writeContext(file, { name: 'qd', server: 'https://127.0.0.1:7443', token: 'new' }, systemClock);
    expect(await connectionOf(await loadKubeconfig([file]))).toEqual({
      server: 'https://127.0.0.1:7443',
      token: 'new',
    });
  });

  it('fills sections that are null or missing', async () => {
    const file = join(directory, 'config');
    await writeFile(file, 'apiVersion: v1\nkind: Config\nclusters: null\n');
    await writeContext(file, entry, systemClock);
    expect((await connectionOf(await loadKubeconfig([file]))).server).toBe(entry.server);
  });

  it('writes through a symbolic link', async () => {
    await writeFile(join(directory, 'real'), '');
    await symlink(join(directory, 'real'), join(directory, 'link'));
    await writeContext(join(directory, 'link'), entry, systemClock);
    expect(await readFile(join(directory, 'real'), 'utf8')).toContain('name: qd');
  });

  it('leaves an invalid file unchanged', async () => {
    const file = join(directory, 'config');
    await writeFile(file, 'clusters: [');
    await expect(writeContext(file, entry, systemClock)).rejects.toThrow('is not valid YAML');
    expect(await readFile(file, 'utf8')).toBe('clusters: [');
    expect(await readdir(directory)).toEqual(['config']);
  });

  it('keeps the entries of all processes that write at once', async () => {
    const file = join(directory, 'config');
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(names.map((name) => writeContext(file, { ...entry, name }, systemClock)));
    expect([...(await loadKubeconfig([file])).contexts.keys()].sort()).toEqual(names);
  });

  it('fails with a clear message when the lock is held', async () => {
    const file = join(directory, 'config');
    await writeFile(`${file}.lock`, '');
    const clock = new ControlledClock();
    const outcome = expect(writeContext(file, entry, clock)).rejects.toThrow(`${file}.lock exists`);
    let settled = false;
    const done = outcome.finally(() => {
      settled = true;
    });
    while (!settled) await clock.advance(100);
    await done;
  });

  it('removes nothing from a file that does not exist', async () => {
    await removeContext(join(directory, 'config'), 'qd', systemClock);
    expect(await readdir(directory)).toEqual([]);
  });

  it('reports a path that cannot be written', async () => {
    await writeFile(join(directory, 'file'), '');
    await expect(writeContext(join(directory, 'file', 'config'), entry, systemClock)).rejects.toThrow('cannot write');
  });
});
