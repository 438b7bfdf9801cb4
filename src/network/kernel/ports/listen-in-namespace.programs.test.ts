import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { listenInNamespace } from './listen-in-namespace.ts';

/** Runs a command in the namespace of this process. */
const HERE = ['env'];
const ATTEMPTS = 10;
const BLOCKED_MS = 25;

it('a socket of another namespace is handed over although other programs end at the same time, and this process is busy', async () => {
  let isDone = false;
  const neighbours = Promise.all(
    Array.from({ length: 3 }, async () => {
      while (!isDone) {
        const child = spawn('sh', ['-c', 'echo line'], { stdio: ['ignore', 'pipe', 'ignore'] });
        child.stdout.on('data', block);
        await once(child, 'close');
      }
    }),
  );
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const server = await listenInNamespace(HERE, 0);
    expect((server.address() as AddressInfo).port).toBeGreaterThan(0);
    server.close();
  }
  isDone = true;
  await neighbours;
});

it('a socket of another namespace is rejected when the port is taken', async () => {
  const first = await listenInNamespace(HERE, 0);
  const { port } = first.address() as AddressInfo;
  await expect(listenInNamespace(HERE, port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  first.close();
});

it('a socket of another namespace is rejected when the namespace cannot be entered', async () => {
  await expect(listenInNamespace(['false'], 0)).rejects.toThrow('ended with code 1');
  await expect(listenInNamespace(['/no/such/program'], 0)).rejects.toMatchObject({ code: 'ENOENT' });
});

/** Blocks the event loop, which keeps it from noticing events meanwhile. */
function block(): void {
  const end = Date.now() + BLOCKED_MS;
  while (Date.now() < end);
}
