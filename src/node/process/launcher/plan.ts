/** What the launcher is told to do: a list of system calls in order. */

/** The values of Linux, the same on every architecture that the launcher knows. */
export const MS = {
  RDONLY: 1,
  NOSUID: 2,
  NODEV: 4,
  NOEXEC: 8,
  REC: 0x4000,
  PRIVATE: 1 << 18,
  SLAVE: 1 << 19,
} as const;

export const CLONE = {
  NEWNS: 0x00020000,
  NEWCGROUP: 0x02000000,
  NEWUTS: 0x04000000,
  NEWIPC: 0x08000000,
  NEWPID: 0x20000000,
  NEWNET: 0x40000000,
} as const;

export type Step =
  | readonly ['write' | 'try-write', path: string, value: string]
  | readonly ['unshare', flags: number]
  | readonly ['namespaces', ...paths: string[]]
  | readonly ['user-namespace', uid: number, outerUid: number, gid: number, outerGid: number]
  | readonly ['hostname', name: string]
  | readonly ['mount', source: string, target: string, type: string, flags: number, data: string]
  | readonly ['overlay', target: string, lower: string, layer: string, ...options: string[]]
  | readonly ['tree', ...leftOut: string[]]
  | readonly ['pivot', root: string]
  | readonly ['detach']
  | readonly ['directory', path: string, ...mode: string[]]
  | readonly ['file', path: string]
  | readonly ['link', path: string, target: string]
  | readonly ['bind', source: string, target: string, flags: number, attributes: number]
  | readonly ['mask' | 'readonly' | 'read-only-tree', path: string]
  | readonly ['bounding', ...dropped: number[]]
  | readonly ['groups', ...ids: number[]]
  | readonly ['gid' | 'uid', id: number]
  | readonly ['no-new-privileges']
  | readonly ['seccomp', filter: string]
  | readonly ['working-directory', path: string]
  | readonly ['env', ...variables: string[]]
  | readonly ['dies-with-parent']
  | readonly ['exec', ...command: string[]]
  /** What follows is done in a child: in the process namespace that was entered or made before. */
  | readonly ['fork']
  /** The child waits for a terminal here, and has it as its standard streams afterwards. */
  | readonly ['terminal']
  /** Keeps the child of a holder as the first process of a process namespace. */
  | readonly ['init']
  | readonly ['port', port: number];

/** Records of the number of fields and the fields, each ended by a zero byte, which no argument can contain. */
export function encodePlan(steps: readonly Step[]): Buffer {
  return Buffer.from(steps.map((step) => `${step.length}\0${step.join('\0')}\0`).join(''));
}

/** With its length before it, as it is sent over a descriptor. */
export function framedPlan(steps: readonly Step[]): Buffer {
  const plan = encodePlan(steps);
  return Buffer.concat([Buffer.from(`${plan.length}\n`), plan]);
}
