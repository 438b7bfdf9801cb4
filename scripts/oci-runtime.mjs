/**
 * Installs runc, which runs the pods of root's `process` nodes, where apt-get can. It never fails and takes at most half a
 * minute; a start without it works as well, and says what is missing.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onPath, root } from './setup.mjs';

const LIMIT_MS = 30_000;
/** Time that is left for unpacking when the download takes all it may take. */
const UNPACK_MS = 6_000;
const RETRY_MS = 24 * 60 * 60 * 1_000;
const PROGRAMS = ['runc', 'crun'];
const INSTALL = ['install', '-q', '-y', '--no-install-recommends', 'runc'];

/** Resolves when the runtime is installed, or cannot be for now. */
export async function ensureOciRuntime(options = {}) {
  const { limitMs = LIMIT_MS, unpackMs = UNPACK_MS, cache = join(root, '.cache') } = options;
  const { isRoot = process.getuid?.() === 0, now = Date.now() } = options;
  if (PROGRAMS.some(onPath) || !isRoot || !onPath('apt-get')) return;
  const memory = join(cache, 'oci-runtime.json');
  if (hasFailed(memory, now)) return;
  const problem = await install(performance.now() + limitMs, unpackMs);
  if (problem === undefined) {
    rmSync(memory, { force: true });
    console.log('setup: installed runc, which runs pods as containers');
    return;
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(memory, JSON.stringify({ triedAt: now }));
  console.log(`setup: runc could not be installed (${problem}); "apt-get install runc" does it by hand`);
}

/** Resolves with what went wrong; undefined: nothing. */
async function install(deadline, unpackMs) {
  const download = [...INSTALL, '--download-only'];
  const kills = { until: deadline - unpackMs, kills: true };
  // Package lists that are there may do, and asking for new ones takes long.
  let problem = await apt(download, kills);
  if (problem !== undefined) problem = (await apt(['update', '-q'], kills)) ?? (await apt(download, kills));
  // An interrupted dpkg would need repair: one that takes too long goes on, and nobody waits for it.
  problem ??= await apt(INSTALL, { until: deadline, kills: false });
  return problem ?? (PROGRAMS.some(onPath) ? undefined : 'it is not on PATH');
}

/** Resolves with what went wrong, at the latest at the given time. */
function apt(args, { until, kills }) {
  const left = until - performance.now();
  if (left <= 0) return Promise.resolve('apt-get took too long');
  return new Promise((resolve) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    // A process group of its own, so that what it starts ends with it.
    const child = spawn('apt-get', args, { stdio: 'ignore', env, detached: true });
    const timer = setTimeout(() => {
      if (kills) killGroup(child.pid);
      child.unref();
      resolve('apt-get took too long');
    }, left);
    const end = (problem) => {
      clearTimeout(timer);
      resolve(problem);
    };
    child.on('error', (error) => end(error.message));
    child.on('exit', (code, signal) => end(code === 0 ? undefined : `apt-get ${args[0]} ended with ${signal ?? code}`));
  });
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function hasFailed(memory, now) {
  try {
    const age = now - JSON.parse(readFileSync(memory, 'utf8')).triedAt;
    return age >= 0 && age < RETRY_MS;
  } catch {
    return false;
  }
}
