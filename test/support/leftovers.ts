/**
 * Runs once around all tests: gives them a directory for their temporary files, and fails the run when they leave something on
 * the machine: processes, mounts, nftables tables, network interfaces, network namespaces.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Timeout for processes that end by themselves, such as the keeper of containers. */
const END_TIMEOUT_SECONDS = 2;

/** Holds the temporary files of this run. Its path is short, because it becomes part of the addresses of unix sockets. */
export const runDirectory = join(tmpdir(), `qt-${process.pid}`);

/** Set in the environment of tests, and so in that of the programs that they start. */
export const IN_A_TEST = 'QUARTERDECK_IN_A_TEST';

export default function setup(): () => void {
  mkdirSync(runDirectory, { recursive: true });
  // Tests run programs as other users, too.
  chmodSync(runDirectory, 0o1777);
  const before = new Set(networkParts());
  const left = () => [...processes().map(describe), ...mounts(), ...networkParts().filter((part) => !before.has(part))];
  return () => {
    for (const { pid } of processes()) waitForEnd(pid);
    // Mounts in it are not ours to remove.
    if (mounts().length === 0) rmSync(runDirectory, { recursive: true, force: true });
    const found = left();
    if (found.length === 0) return;
    console.error(['The tests left behind:', ...found].join('\n  '));
    process.exitCode = 1;
  };
}

interface Process {
  readonly pid: string;
  readonly command: string;
}

/** Processes that were started with a path in the directory of this run. */
function processes(): Process[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .map((pid) => ({ pid, command: commandOf(pid) }))
    .filter(({ command }) => command.includes(`${runDirectory}/`));
}

const describe = ({ pid, command }: Process) => `process ${pid}: ${command}`;

function waitForEnd(pid: string): void {
  spawnSync('timeout', [String(END_TIMEOUT_SECONDS), 'tail', '-f', `--pid=${pid}`, '/dev/null']);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended.
    return '';
  }
}

function mounts(): string[] {
  if (process.platform !== 'linux') return [];
  const lines = readFileSync('/proc/mounts', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const path = line.split(' ')[1] ?? '';
    return path.startsWith(`${runDirectory}/`) ? [`mount ${path}`] : [];
  });
}

/**
 * Returns nothing on a machine that has other clusters, or in a run that a test has started: their parts cannot be told
 * apart.
 */
function networkParts(): string[] {
  if (process.env.CI !== 'true' || process.env[IN_A_TEST]) return [];
  return [
    ...linesOf('nft', ['list', 'tables']).filter((line) => /^table \S+ (qd|quarterdeck)/.test(line)),
    ...linesOf('ip', ['-oneline', 'link']).flatMap((line) => {
      const [, name] = /^\d+: (qd[^:@]*)/.exec(line) ?? [];
      return name ? [`interface ${name}`] : [];
    }),
    ...linesOf('ip', ['netns', 'list']).map((line) => `network namespace ${line.split(' ')[0]}`),
  ];
}

/**
 * Returns nothing if the program is missing, or needs rights that this process does not have: then tests made nothing
 * with it.
 */
function linesOf(program: string, args: readonly string[]): string[] {
  try {
    const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env })
      .split('\n')
      .filter(Boolean);
  } catch {
    return [];
  }
}
