/**
 * The newest kubectl that Debian has, beside the one that is installed: taken out of its package into .cache/ and
 * installed nowhere. The archive is the one that this machine's apt uses; the later suite is asked for with lists of
 * its own, so that nothing of the machine changes, and anybody may do it, not only root.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const folder = join(root, '.cache', 'kubectl');
const program = join(folder, 'usr', 'bin', 'kubectl');
/** Newest first. A later one is tried when the binary of the former does not run on this machine. */
const SUITES = ['sid', 'testing', 'stable'];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Why it could not be had; undefined: it is there. What was fetched once is kept. */
export function ensureNewestKubectl() {
  if (runs()) return undefined;
  if (!succeeds('apt-get', ['--version']) || !succeeds('dpkg-deb', ['--version'])) return 'there is no apt';
  const archive = debianArchive();
  if (!archive) return 'apt knows no Debian archive';
  for (const suite of SUITES) {
    console.log(`setup: kubectl of Debian ${suite}`);
    rmSync(folder, { recursive: true, force: true });
    if (fetch(archive, suite) && runs()) return undefined;
  }
  rmSync(folder, { recursive: true, force: true });
  return `no kubectl of ${SUITES.join(', ')} could be fetched and run`;
}

/** Where a suite of the distribution itself comes from, not its updates or security fixes. */
function debianArchive() {
  const filters = ['Component: main', 'Created-By: Packages'];
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI) $(RELEASE)', ...filters], {
    encoding: 'utf8',
  });
  const pairs = (stdout ?? '').split('\n').map((line) => line.split(' '));
  return pairs.find(([uri, release]) => uri?.includes('debian') && release && !/[-/]/.test(release))?.[0];
}

function fetch(archive, suite) {
  const apt = join(folder, 'apt');
  for (const path of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(apt, path), { recursive: true });
  const signed = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  writeFileSync(join(apt, 'sources.list'), `deb ${signed}${archive} ${suite} main\n`);
  const options = [
    `Dir::Etc::sourcelist=${join(apt, 'sources.list')}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${join(apt, 'lists')}`,
    `Dir::Cache=${join(apt, 'cache')}`,
    'Acquire::Languages=none',
    'APT::Sandbox::User=',
  ].flatMap((option) => ['-o', option]);
  const get = (...args) => succeeds('apt-get', ['-q', ...options, ...args], apt);
  if (!get('update') || !get('download', 'kubectl')) return false;
  const deb = readdirSync(apt).find((file) => file.endsWith('.deb'));
  const extracted = deb !== undefined && succeeds('dpkg-deb', ['-x', join(apt, deb), folder]);
  rmSync(apt, { recursive: true, force: true });
  return extracted;
}

function runs() {
  return existsSync(program) && succeeds(program, ['version', '--client']);
}

function succeeds(command, args, cwd = root) {
  return spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
