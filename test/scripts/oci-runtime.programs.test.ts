/** Tests how `npm start` obtains an OCI runtime, with an `apt-get` that is a shell script. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = resolve('scripts/oci-runtime.mjs');
const DAY_MS = 86_400_000;
const NOTE = '"apt-get install runc" does it by hand\n';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'qd-oci-runtime-'));
  mkdirSync(join(directory, 'bin'));
  for (const name of ['sh', 'sleep', 'touch', 'chmod']) {
    symlinkSync(
      ['/bin', '/usr/bin'].map((folder) => join(folder, name)).find(existsSync)!,
      join(directory, 'bin', name),
    );
  }
});
afterEach(() => rmSync(directory, { recursive: true }));

function program(name: string, script: string): void {
  writeFileSync(join(directory, 'bin', name), `#!/bin/sh\necho "$@" >> ${directory}/calls\n${script}\n`);
  chmodSync(join(directory, 'bin', name), 0o755);
}

const calls = () =>
  existsSync(join(directory, 'calls')) ? readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n') : [];

/** Returns the output. Rejects when it fails. */
function ensure(options: object = {}): Promise<string> {
  const given = { cache: join(directory, 'cache'), isRoot: true, now: 1, ...options };
  const code = `import { ensureOciRuntime } from ${JSON.stringify(SCRIPT)}; await ensureOciRuntime(${JSON.stringify(given)});`;
  const env = { PATH: join(directory, 'bin') };
  return new Promise((done, fail) => {
    execFile(process.execPath, ['--input-type=module', '-e', code], { env }, (error, stdout, stderr) =>
      error ? fail(new Error(stderr, { cause: error })) : done(stdout),
    );
  });
}

const INSTALL = `case "$*" in *download-only*) ;; install*) touch ${'$'}{0%/*}/runc ;; esac`;

describe('npm start', () => {
  it('installs runc, and says so in one line', async () => {
    program('apt-get', INSTALL);
    expect(await ensure()).toBe('setup: installed runc, which runs pods as containers\n');
    expect(calls()).toEqual([
      'install -q -y --no-install-recommends runc --download-only',
      'install -q -y --no-install-recommends runc',
    ]);
    expect(await ensure()).toBe('');
    expect(calls()).toHaveLength(2);
  });

  it('fetches package lists when those that are there do not do', async () => {
    program(
      'apt-get',
      `[ "$1" = update ] && touch ${'$'}{0%/*}/lists; [ -e ${'$'}{0%/*}/lists ] || exit 100; ${INSTALL}`,
    );
    expect(await ensure()).toContain('installed runc');
    expect(calls()).toHaveLength(4);
  });

  it.each([
    ['the user is not root', { isRoot: false }, 'apt-get'],
    ['there is no apt-get', {}, 'yum'],
  ])('tries nothing when %s', async (_, options, name) => {
    program(name, 'exit 1');
    expect(await ensure(options)).toBe('');
    expect(calls()).toEqual([]);
  });

  it.each(['runc', 'crun'])('tries nothing when %s is there', async (name) => {
    program('apt-get', 'exit 1');
    program(name, 'exit 1');
    expect(await ensure()).toBe('');
    expect(calls()).toEqual([]);
  });

  it('goes on without it, and does not try again for a day', async () => {
    program('apt-get', 'exit 100');
    expect(await ensure()).toBe(`setup: runc could not be installed (apt-get update ended with 100); ${NOTE}`);
    const tried = calls().length;
    expect(await ensure({ now: DAY_MS - 1 })).toBe('');
    expect(calls()).toHaveLength(tried);
    expect(await ensure({ now: DAY_MS + 1 })).toContain('could not be installed');
    expect(calls()).toHaveLength(2 * tried);
  });

  it('ends an apt-get that takes too long, with what it has started', async () => {
    program('apt-get', `sleep 600 & echo $! > ${directory}/child; wait`);
    const text = await ensure({ limitMs: 2_000, unpackMs: 500 });
    expect(text).toBe(`setup: runc could not be installed (apt-get took too long); ${NOTE}`);
    const child = Number(readFileSync(join(directory, 'child'), 'utf8'));
    await expect.poll(() => isRunning(child)).toBe(false);
  });

  it('waits no longer for an installation than for the rest, and does not interrupt it', async () => {
    program('apt-get', `case "$*" in *download-only*) exit 0 ;; esac; echo $$ > ${directory}/child; exec sleep 600`);
    expect(await ensure({ limitMs: 2_000, unpackMs: 500 })).toContain('apt-get took too long');
    const child = Number(readFileSync(join(directory, 'child'), 'utf8'));
    expect(isRunning(child)).toBe(true);
    process.kill(child, 'SIGKILL');
  });
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
