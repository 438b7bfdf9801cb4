/** Measures the OCI runtime alone: the minimum for starting a pod of one container. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pauseProgram } from '../../src/node/images/pause/pause-program.ts';
import { PAUSE_PROGRAM, sandboxSpec } from '../../src/node/process/oci/sandbox-spec.ts';
import type { SandboxConfig } from '../../src/node/runtime/sandbox-config.ts';

const IDS = [{ hostId: 0x7ffd_0000, containerId: 0, length: 65_536 }];

export interface OciPeer {
  /** Runs two containers after each other, as for a pod, and resolves with the milliseconds that it took. */
  start(): Promise<number>;
  close(): void;
}

export function openOciPeer(directory: string): OciPeer {
  // A user of the namespace has to pass through to the root.
  const root = `/run/quarterdeck-bench-${process.pid}`;
  for (const path of [join(root, 'proc'), join(root, 'dev'), directory]) mkdirSync(path, { recursive: true });
  writeFileSync(join(root, PAUSE_PROGRAM), pauseProgram(process.arch), { mode: 0o755 });
  const config = {
    hostname: 'bench',
    // With the filter of system calls, as containers have it.
    namespaces: { network: 'pod', ipc: 'pod', pid: 'pod', user: IDS },
    sysctls: {},
  } as unknown as SandboxConfig;
  const machine = { architecture: process.arch, capabilities: new Set<string>(), minOomScoreAdj: undefined };
  const spec = sandboxSpec({ config, root, cgroup: `/quarterdeck-bench-${process.pid}`, machine });
  writeFileSync(join(directory, 'config.json'), JSON.stringify(spec));
  let count = 0;
  const start = async () => {
    const ids = [`bench-${process.pid}-${++count}`, `bench-${process.pid}-${++count}`];
    const began = performance.now();
    for (const id of ids) await runc(directory, 'run', '--detach', '--bundle', directory, id);
    const milliseconds = performance.now() - began;
    for (const id of ids) await runc(directory, 'delete', '--force', id);
    return milliseconds;
  };
  return { start, close: () => rmSync(root, { recursive: true, force: true }) };
}

async function runc(directory: string, ...args: readonly string[]): Promise<void> {
  const child = spawn('runc', ['--root', join(directory, 'state'), ...args], { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`runc ${args[0]} ended with code ${code}`);
}
