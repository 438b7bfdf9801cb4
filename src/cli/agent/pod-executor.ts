/** Executor of pods on nodes without a container engine, as far as it can be told before they start. */
import { basename, join } from 'node:path';
import { isExecutable } from '../../base/programs/is-executable.ts';

const OCI_RUNTIMES = ['runc', 'crun'];
/** Where system programs are besides PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/sbin', '/usr/local/bin'];

/** Containers have images; plain processes have the files of the node. */
export type PodExecutor = 'containers' | 'plain';

const isRootUser = () => process.getuid?.() === 0;

export function podExecutor(path: string, isRoot = isRootUser()): PodExecutor {
  return isRoot && ociRuntime(path) !== undefined ? 'containers' : 'plain';
}

/** For the line that a start prints: what pods are, and what is missing for more. */
export function describePods(path: string, isRoot = isRootUser()): string {
  if (!isRoot) return 'processes of this user, not isolated: containers need root and runc';
  const runtime = ociRuntime(path);
  return runtime === undefined
    ? 'processes of nobody, not isolated: install runc for containers'
    : `containers of ${basename(runtime)}`;
}

function ociRuntime(path: string): string | undefined {
  const folders = [...SYSTEM_FOLDERS, ...path.split(':').filter((folder) => folder.startsWith('/'))];
  const paths = OCI_RUNTIMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable);
}
