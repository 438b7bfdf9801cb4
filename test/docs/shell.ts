/**
 * Runs the commands of a document as a reader would: in one shell, with a separate home directory, working directory
 * and clusters, `qd` and `qdfed` from dist/ and the newest kubectl on the PATH, and unused ports.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from '../architecture/source.ts';
import { freePort } from '../support/free-port.ts';
import type { Step } from './documents.ts';

export interface Ran extends Step {
  readonly said: string;
  /** The exit code of the command; undefined when it was not reached. */
  readonly code: number | undefined;
}

interface PageOptions {
  readonly steps: readonly Step[];
  /** Runtime of the clusters that the page starts without `--runtime`. */
  readonly runtime: 'process' | 'simulated';
  /** The program kubectl. */
  readonly kubectl: string;
}

/** A page whose commands take longer is ended; the command that it was at has no exit code. */
export const PAGE_TIMEOUT_MS = 90_000;

/** The ports that documents name, which stand for ports that are free. */
const NAMED_PORTS = ['6443', '8001', '5353'];

/** Names of clusters in the documents; each remembers a port, which keeps it off the well-known ones. */
const CLUSTERS = ['quarterdeck', 'dev', 'real', 'host', 'east', 'west', 'north'];

/**
 * Programs that stay in the foreground: each gets a separate terminal, so to speak, and is waited for until it prints
 * this.
 */
const FOREGROUND = /^(?:npm start|qd up|npx qd up|qd proxy)\b/;
const PRELUDE = `
in_another_terminal() {
  local said="$SCRATCH/terminal-$RANDOM$RANDOM"
  "$@" > "$said" 2>&1 &
  local pid=$!
  until grep -qE '^(Ready in|Starting to serve)' "$said"; do
    kill -0 $pid 2> "$SCRATCH/ignored" || { cat "$said"; return 1; }
    sleep 0.05
  done
  cat "$said"
}
`;

/** Resolves with the output of each command and its exit code. The first failing command is the last that ran. */
export async function runPage({ steps, kubectl, runtime }: PageOptions): Promise<Ran[]> {
  const directory = await mkdtemp(join(tmpdir(), 'qd-docs-'));
  try {
    const home = await prepareHome(directory, kubectl);
    const ports = new Map(await Promise.all(NAMED_PORTS.map(async (port) => [port, await freePort()] as const)));
    for (const name of CLUSTERS) {
      const port = name === 'quarterdeck' ? ports.get('6443')! : await freePort();
      await rememberSettings(home, name, { port, runtime });
    }
    const script = join(directory, 'script');
    await writeFile(script, scriptOf(steps, ports));
    await runScript(script, directory);
    return await Promise.all(steps.map((step, index) => resultOf(step, join(directory, 'results', String(index)))));
  } finally {
    await stopClusters(join(directory, 'home'));
    await rm(directory, { recursive: true, force: true });
  }
}

/** Prepares a working directory like that of a clone: files that commands write there do not reach the real one. */
async function prepareHome(directory: string, kubectl: string): Promise<string> {
  const [home, bin, work] = ['home', 'bin', 'work'].map((name) => join(directory, name)) as [string, string, string];
  for (const path of [home, bin, work, join(directory, 'results')]) await mkdir(path);
  for (const program of ['qd', 'qdfed']) await symlink(join(root, 'bin', `${program}.cjs`), join(bin, program));
  await symlink(kubectl, join(bin, 'kubectl'));
  for (const name of await readdir(root)) if (name !== '.git') await symlink(join(root, name), join(work, name));
  return home;
}

/** A cluster goes on at the address that its directory remembers, with the runtime that the page is run with. */
async function rememberSettings(home: string, name: string, settings: object): Promise<void> {
  const data = join(home, '.quarterdeck', name);
  await mkdir(data, { recursive: true, mode: 0o700 });
  await writeFile(join(data, 'cluster.json'), JSON.stringify({ format: 1, ...settings }));
  await chmod(join(data, 'cluster.json'), 0o600);
}

function scriptOf(steps: readonly Step[], ports: ReadonlyMap<string, number>): string {
  const named = new RegExp([...ports.keys()].join('|'), 'g');
  const commands = steps.map(({ command }, index) => {
    const result = `"$SCRATCH/results/${index}"`;
    const trap = `trap 'echo $? > ${result}.code' EXIT`;
    // In one go: a free port may have the digits of another named one.
    const runnable = command.replaceAll(named, (port) => String(ports.get(port)));
    return `${trap}\n{\n${inItsTerminal(runnable)}\n} > ${result} 2>&1\necho 0 > ${result}.code`;
  });
  return `set -eo pipefail\n${PRELUDE}\n${commands.join('\n')}\ntrap - EXIT\n`;
}

function inItsTerminal(command: string): string {
  const isDetached = /--detach|--help/.test(command);
  return FOREGROUND.test(command) && !isDetached ? `in_another_terminal ${command.replace(/&\s*$/, '')}` : command;
}

async function runScript(script: string, directory: string): Promise<void> {
  const path = [join(directory, 'bin'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin'];
  const { npm_config_update_notifier, GOGC } = process.env;
  const child = spawn('bash', [script], {
    cwd: join(directory, 'work'),
    // A separate session, to end with everything that the page left in the background.
    detached: true,
    timeout: PAGE_TIMEOUT_MS,
    stdio: 'ignore',
    env: {
      HOME: join(directory, 'home'),
      PATH: path.join(delimiter),
      SCRATCH: directory,
      TERM: 'dumb',
      npm_config_update_notifier,
      GOGC,
    },
  });
  try {
    await once(child, 'exit');
  } finally {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // Nothing was left.
    }
  }
}

async function resultOf(step: Step, file: string): Promise<Ran> {
  const read = (path: string) => readFile(path, 'utf8').catch(() => undefined);
  const code = await read(`${file}.code`);
  return { ...step, said: (await read(file)) ?? '', code: code === undefined ? undefined : Number(code) };
}

async function stopClusters(home: string): Promise<void> {
  const list = spawn(process.execPath, [join(root, 'dist', 'qd.js'), 'list', '--json'], {
    env: { HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of list.stdout) text += chunk;
  for (const { pid } of JSON.parse(text)) if (pid !== undefined) process.kill(pid, 'SIGKILL');
}
