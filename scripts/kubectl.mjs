/**
 * Fetches the releases of kubectl that tests drive: the oldest and the newest that Debian has. They are unpacked into
 * .cache/kubectl and installed nowhere, so that tests do not depend on the kubectl of this machine. The archive is the one
 * that apt uses here; each suite is read with lists of its own, so nothing on the machine changes and root is not needed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** The next suite is tried when the binary of the one before does not run on this machine. */
const RELEASES = [
  { name: 'oldest', package: 'kubernetes-client', suites: ['bookworm'] },
  { name: 'newest', package: 'kubectl', suites: ['sid', 'testing', 'stable'] },
];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Fetches what is missing. Returns why, for each release that could not be fetched. What was fetched is kept. */
export function ensureKubectls() {
  return RELEASES.flatMap((release) => {
    const reason = ensure(release);
    return reason ? [`the ${release.name} kubectl: ${reason}`] : [];
  });
}

function ensure({ name, package: source, suites }) {
  const folder = join(root, '.cache', 'kubectl', name);
  const runs = () => {
    const program = join(folder, 'usr', 'bin', 'kubectl');
    return existsSync(program) && succeeds(program, ['version', '--client']);
  };
  if (runs()) return undefined;
  if (!succeeds('apt-get', ['--version']) || !succeeds('dpkg-deb', ['--version'])) return 'apt is not available';
  const archive = debianArchive();
  if (!archive) return 'apt has no Debian archive configured';
  for (const suite of suites) {
    console.log(`setup: ${source} of Debian ${suite}`);
    rmSync(folder, { recursive: true, force: true });
    if (fetch({ folder, archive, suite, source }) && runs()) return undefined;
  }
  rmSync(folder, { recursive: true, force: true });
  return `none of Debian's suites ${suites.join(', ')} has one that can be fetched and runs here`;
}

/** Returns the address of the distribution's own suites, not that of its updates or security fixes. */
function debianArchive() {
  const filters = ['Component: main', 'Created-By: Packages'];
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI) $(RELEASE)', ...filters], {
    encoding: 'utf8',
  });
  const pairs = (stdout ?? '').split('\n').map((line) => line.split(' '));
  return pairs.find(([uri, release]) => uri?.includes('debian') && release && !/[-/]/.test(release))?.[0];
}

function fetch({ folder, archive, suite, source }) {
  const apt = join(folder, 'apt');
  for (const path of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(apt, path), { recursive: true });
  const signed = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  writeFileSync(join(apt, 'sources.list'), `deb ${signed}${archive} ${suite} main\n`);
  const options = [
    `Dir::Etc::sourcelist=${join(apt, 'sources.list')}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${join(apt, 'lists')}`,
    // What is installed on this machine has no say in what is downloaded.
    'Dir::State::status=/dev/null',
    `Dir::Cache=${join(apt, 'cache')}`,
    'Acquire::Languages=none',
    'APT::Sandbox::User=',
  ].flatMap((option) => ['-o', option]);
  const get = (...args) => succeeds('apt-get', ['-q', ...options, ...args], apt);
  if (!get('update') || !get('download', source)) return false;
  const deb = readdirSync(apt).find((file) => file.endsWith('.deb'));
  const extracted = deb !== undefined && succeeds('dpkg-deb', ['-x', join(apt, deb), folder]);
  rmSync(apt, { recursive: true, force: true });
  return extracted;
}

function succeeds(command, args, cwd = root) {
  return spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
