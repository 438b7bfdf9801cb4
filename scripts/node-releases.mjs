/**
 * Fetches the Node releases that the program supports, so that tests can run on all of them: the major versions in
 * node-releases.json, which are those with long-term support that `engines` allows, and the newest. They come from npm, which packages Node for each platform, are
 * unpacked into .cache/node and installed nowhere.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const MAJORS = JSON.parse(readFileSync(new URL('node-releases.json', import.meta.url), 'utf8'));

/** Fetches what is missing. Returns why, for each release that could not be fetched. What was fetched is kept. */
export function ensureNodeReleases() {
  const running = Number.parseInt(process.versions.node, 10);
  return MAJORS.filter((major) => major !== running).flatMap((major) => {
    const reason = ensure(major);
    return reason ? [`Node ${major}: ${reason}`] : [];
  });
}

function ensure(major) {
  const folder = join(root, '.cache', 'node', String(major));
  const program = join(folder, 'package', 'bin', 'node');
  const runs = () => existsSync(program) && succeeds(program, ['--version']);
  if (runs()) return undefined;
  const source = `node-${process.platform}-${process.arch}@${major}`;
  console.log(`setup: ${source}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { status, stdout } = spawnSync('npm', ['pack', '--silent', source], { cwd: folder, encoding: 'utf8' });
  const archive = (stdout ?? '').trim().split('\n').at(-1) ?? '';
  if (status === 0 && succeeds('tar', ['-xzf', archive, 'package/bin/node'], folder) && runs()) {
    rmSync(join(folder, archive));
    return undefined;
  }
  rmSync(folder, { recursive: true, force: true });
  return `npm has no ${source} that runs here`;
}

function succeeds(command, args, cwd = root) {
  return spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
