/** Clusters and agents as services of systemd, which a program in its place stands for: it runs what the units say. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsedWords } from '../support/systemd-words.ts';
import { newDirectory, runQd } from './program.ts';

const NOBODY = 65_534;
const TIMEOUT_MS = 60_000;
/** Root takes the part of another user: units of root are those of the machine. */
const user: { readonly uid?: number } = process.getuid?.() === 0 ? { uid: NOBODY } : {};

/** Starts and stops what units say, and keeps a record of what it is asked for. */
const SYSTEMCTL = `
const { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync, rmSync } = require('node:fs');
const { spawn } = require('node:child_process');
const { join } = require('node:path');
const state = join(process.env.HOME, 'systemd');
const args = process.argv.slice(2);
mkdirSync(state, { recursive: true });
if (args[1] !== 'show') appendFileSync(join(state, 'calls'), args.join(' ') + '\\n');
const unit = args.at(-1);
const file = (kind) => join(state, unit + '.' + kind);
const pid = existsSync(file('pid')) ? Number(readFileSync(file('pid'), 'utf8')) : 0;
// A process that has ended and that nobody has waited for runs no more.
const runs = () => { try { return !readFileSync('/proc/' + pid + '/stat', 'utf8').includes(') Z '); } catch { return false; } };
switch (args[1]) {
  case 'show':
    console.log('ActiveState=' + (runs() ? 'active' : 'inactive'));
    console.log('UnitFileState=' + (existsSync(file('enabled')) ? 'enabled' : 'disabled'));
    console.log('MainPID=' + (runs() ? pid : 0));
    break;
  case 'enable':
    writeFileSync(file('enabled'), '');
    break;
  case 'restart': {
    if (runs()) process.kill(pid, 'SIGTERM');
    while (runs()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    const text = readFileSync(join(process.env.HOME, '.config', 'systemd', 'user', unit), 'utf8');
    // The words of these tests have no escapes.
    const words = /^ExecStart=(.*)$/m.exec(text)[1].matchAll(/"([^"]*)"/g);
    const [program, ...rest] = [...words].map((word) => word[1]);
    const child = spawn(program, rest, { detached: true, stdio: 'ignore', cwd: '/' });
    writeFileSync(file('pid'), String(child.pid));
    child.unref();
    break;
  }
  case 'disable':
    rmSync(file('enabled'), { force: true });
    if (runs()) process.kill(pid, 'SIGTERM');
    break;
}
`;

let home: string;
let units: string;
beforeAll(async () => {
  home = await newDirectory();
  units = join(home, '.config', 'systemd', 'user');
  await chmod(home, 0o777);
  await mkdir(join(home, 'bin'), { mode: 0o755 });
  const program = join(home, 'bin', 'systemctl');
  await writeFile(program, `#!${process.execPath}\n${SYSTEMCTL}`, { mode: 0o755 });
  await chmod(program, 0o755);
});
afterAll(async () => {
  await qd('reset', '--yes', '--name', 'dev');
  await rm(home, { recursive: true, force: true });
}, TIMEOUT_MS);

const qd = (...args: string[]) =>
  runQd(args, { env: { HOME: home, KUBECONFIG: '', PATH: `${join(home, 'bin')}:${process.env.PATH}` }, ...user });
const calls = async () => (await readFile(join(home, 'systemd', 'calls'), 'utf8')).trim().split('\n');
/** The command that a unit runs. */
const commandOf = (unit: string) => parsedWords(/^ExecStart=(.*)$/m.exec(unit)![1]!, { hasVariables: true });
const FLAGS = ['--name', 'dev', '--port', '0', '--runtime', 'simulated', '--nodes', '0'];
const UNIT = 'qd-up-dev.service';

describe('qd service', () => {
  test('shows a unit that systemd accepts', async () => {
    const { code, stdout } = await qd('service', 'install', 'up', '--print', ...FLAGS);
    expect(code).toBe(0);
    const [node, program, ...args] = commandOf(stdout);
    expect(node).toBe(process.execPath);
    expect(program).toMatch(/^\/.*\/qd\.js$/);
    const directory = join(home, '.quarterdeck', 'dev');
    expect(args.slice(0, 3)).toEqual(['up', '--name=dev', `--data-dir=${directory}`]);
    expect(args.slice(3)).toEqual(['--port=0', '--runtime=simulated', '--nodes=0']);
    const joining = await qd('service', 'install', 'up', '--print', '--token', 'abcdef.0123456789abcdef');
    expect(joining).toMatchObject({ code: 1, stderr: expect.stringContaining('for the first start alone') });
    const file = join(home, UNIT);
    await writeFile(file, stdout);
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    if (verified.error) console.log('skipped: systemd-analyze is not installed');
    else expect(verified.stderr).not.toContain(UNIT);
  });

  test('keeps the token of an agent out of its unit', async () => {
    const token = 'abcdef.0123456789abcdef';
    const flags = [
      '--server',
      'https://192.0.2.1:6443',
      '--token',
      token,
      '--ca-hash',
      'sha256:00',
      '--node-name',
      'rack',
    ];
    const { code, stdout } = await qd('service', 'install', 'agent', '--print', ...flags);
    expect(code).toBe(0);
    expect(stdout).not.toContain(token);
    const directory = join(home, '.quarterdeck', 'agent');
    expect(commandOf(stdout).slice(2)).toEqual([
      ...['agent', `--data-dir=${directory}`, '--server=https://192.0.2.1:6443', '--ca-hash=sha256:00'],
      ...['--node-name=rack', `--token-file=${join(directory, 'join-token')}`],
    ]);
  });

  test('runs a cluster, and says whether it is ready', { timeout: TIMEOUT_MS }, async () => {
    const { stdout: unit } = await qd('service', 'install', 'up', '--print', ...FLAGS);
    const installed = await qd('service', 'install', 'up', ...FLAGS);
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    expect(installed.stdout).toContain(`${UNIT} is ready; its log: journalctl --user -u ${UNIT}`);
    expect(await readFile(join(units, UNIT), 'utf8')).toBe(unit);
    expect(await calls()).toEqual(['--user daemon-reload', `--user enable ${UNIT}`, `--user restart ${UNIT}`]);
    const status = await qd('service', 'status', '--json');
    expect(status.code).toBe(0);
    const seen = { unit: UNIT, kind: 'cluster', name: 'dev', enabled: 'enabled', state: 'active', isReady: true };
    expect(JSON.parse(status.stdout)).toEqual([expect.objectContaining(seen)]);
    await qd('down', '--name', 'dev');
    const stopped = await qd('service', 'status', '--name', 'dev');
    expect(stopped).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/qd-up-dev.service +enabled +inactive +no/),
    });
  });

  describe('is upgraded', () => {
    const unitFile = () => readFile(join(units, UNIT), 'utf8');
    /** A package whose program is this text. */
    const packageOf = async (name: string, text: string) => {
      const directory = join(home, name);
      await mkdir(directory);
      const described = { name: 'quarterdeck', version: '0.2.0', level: 1, bin: { qd: 'qd.js' } };
      await writeFile(join(directory, 'package.json'), JSON.stringify(described));
      await writeFile(join(directory, 'qd.js'), text);
      return directory;
    };

    test('with its unit, which names the program of the new release', { timeout: TIMEOUT_MS }, async () => {
      await qd('service', 'install', 'up', ...FLAGS);
      const before = await unitFile();
      const present = commandOf(before)[1]!;
      const other = await packageOf('other-release', `require(${JSON.stringify(present)});`);
      const { code, stdout, stderr } = await qd('upgrade', other, '--name', 'dev');
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`Cluster "dev" runs with 0.2.0, from ${join(other, 'qd.js')}.`);
      expect(await unitFile()).toBe(before.replace(present, join(other, 'qd.js')));
      expect((await calls()).slice(-2)).toEqual(['--user daemon-reload', `--user restart ${UNIT}`]);
      expect((await qd('service', 'status', '--name', 'dev')).code).toBe(0);
      expect(
        await qd('upgrade', await packageOf('former', `require(${JSON.stringify(present)});`), '--name', 'dev'),
      ).toMatchObject({ code: 0 });
    });

    test('and goes on with its former unit when the new release does not start', { timeout: TIMEOUT_MS }, async () => {
      const before = await unitFile();
      const broken = await packageOf('broken-release', 'process.exit(3);');
      const { code, stderr } = await qd('upgrade', broken, '--name', 'dev', '--ready-timeout', '3s');
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^qd: the upgrade to 0.2.0 failed; cluster "dev" runs with \S+ as before$/m),
      ]);
      expect(await unitFile()).toBe(before);
      expect((await qd('service', 'status', '--name', 'dev')).code).toBe(0);
      await qd('down', '--name', 'dev');
    });
  });

  test('leaves a cluster alone that somebody has started', { timeout: TIMEOUT_MS }, async () => {
    expect(await qd('up', '--detach', '--name', 'dev')).toMatchObject({ code: 0 });
    const { code, stderr } = await qd('service', 'install', 'up', ...FLAGS);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not the service: stop it with'),
    });
    await qd('down', '--name', 'dev');
  });

  test('is removed with its unit', async () => {
    const other = await qd('service', 'remove', '--name', 'other');
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining(`services on this machine: ${UNIT}`) });
    const { code, stdout } = await qd('service', 'remove', '--name', 'dev');
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`removed ${UNIT}`) });
    expect((await calls()).slice(-3)).toEqual([
      `--user disable --now ${UNIT}`,
      '--user daemon-reload',
      `--user reset-failed ${UNIT}`,
    ]);
    expect(await readdir(units)).toEqual([]);
  });

  test('says so where systemd is not installed', async () => {
    const env = { HOME: home, PATH: join(home, 'nowhere') };
    const { code, stderr } = await runQd(['service', 'install', 'up', ...FLAGS], { env, ...user });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('systemctl is not installed') });
  });
});
