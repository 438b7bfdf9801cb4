/** File systems that are views of the kernel: opening files there acts on the node instead of a tree of files. */
import type { Stats } from 'node:fs';
import { type FileHandle, statfs } from 'node:fs/promises';
import { descriptorPath } from './descriptors.ts';
import { PathInsideError } from './errors.ts';

/** The magic numbers of these file systems, as statfs(2) reports them. */
const KERNEL_FILE_SYSTEMS = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0xcafe4a11, // bpf
]);

/** Rejects a step across devices into a kernel file system. */
export async function rejectKernelFiles(handle: FileHandle, found: Stats, device: number): Promise<void> {
  if (found.dev === device || found.isSymbolicLink()) return;
  const { type } = await statfs(descriptorPath(handle));
  if (KERNEL_FILE_SYSTEMS.has(type >>> 0)) throw new PathInsideError('the path leads into a file system of the kernel');
}
