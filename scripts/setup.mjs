/**
 * Installs what a fresh clone lacks: npm packages, and the Debian packages that some suites and the bench need. It runs
 * before node_modules exists, so it is plain Node and imports nothing else.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Debian packages of the programs that suites drive. */
const DEBIAN = {
  etcd: 'etcd-server',
  wrk: 'wrk',
  dnsperf: 'dnsperf',
  dig: 'bind9-dnsutils',
  named: 'bind9',
  containerd: 'containerd',
  runc: 'runc',
  cni: 'containernetworking-plugins',
  busybox: 'busybox-static',
  'docker-registry': 'docker-registry',
  ip: 'iproute2',
  iptables: 'iptables',
  nft: 'nftables',
  skopeo: 'skopeo',
  shellcheck: 'shellcheck',
  age: 'age',
  swift: 'python3-swift',
};

/** Where a program can be that is not on PATH. */
const ELSEWHERE = {
  cni: ['/usr/lib/cni/bridge', '/opt/cni/bin/bridge'],
  swift: ['/usr/lib/python3/dist-packages/swift/common/middleware/s3api/s3api.py'],
};

/** What the suites of real pods drive. */
export const CONTAINER_TOOLS = [
  'containerd',
  'runc',
  'cni',
  'busybox',
  'docker-registry',
  'ip',
  'iptables',
  'nft',
  'skopeo',
];

/** Installs npm packages when node_modules does not match package-lock.json. */
export function ensurePackages() {
  const reason = whyStale();
  if (!reason) return;
  console.log(`setup: npm install (${reason})`);
  // Not `npm ci`, which requires every optional package of every platform, and not every registry has them all.
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund']);
}

/**
 * Tries to install missing programs, and returns those that are still missing. It needs root and apt; elsewhere the suites
 * that need them are skipped, with the reason.
 */
export function ensureTools(names) {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return [];
  if (process.getuid?.() !== 0 || !onPath('apt-get')) return missing;
  const packages = missing.map((name) => DEBIAN[name]);
  console.log(`setup: apt-get install ${packages.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  apt('update', '-q');
  apt('install', '-q', '-y', '--no-install-recommends', ...packages);
  return missing.filter((name) => !isInstalled(name));
}

/** Runs a program with the output of this process, and exits when it fails. */
export function run(program, args, options = {}) {
  try {
    execFileSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  } catch (error) {
    console.error(`${program} ${args.join(' ')} failed`);
    process.exit(typeof error.status === 'number' ? error.status : 1);
  }
}

/** The path of a program in node_modules. */
export function local(name) {
  return join(root, 'node_modules', '.bin', name);
}

function isInstalled(name) {
  return ELSEWHERE[name]?.some((file) => existsSync(file)) ?? onPath(name);
}

export function onPath(name) {
  return (process.env.PATH ?? '').split(':').some((folder) => folder && existsSync(join(folder, name)));
}

/** npm lists installed packages in a hidden lock file; every package that is not optional must be in it. */
function whyStale() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return 'node_modules is missing';
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  for (const [path, entry] of Object.entries(want)) {
    if (path === '') continue;
    const found = have[path];
    if (!found ? !entry.optional : found.version !== entry.version) return `${path} is not ${entry.version}`;
  }
  return undefined;
}
