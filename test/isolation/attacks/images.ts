/**
 * Hostile images. Layers with paths and links that lead out of the root are in `src/node/images/unpack/hostile-layers.test.ts`; links
 * at mount points are in `links.ts`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { loadAttacker, SETUID_PERL } from '../attacker-image.ts';
import { attack, DEFAULT_SECURITY, type Lab, promised, scratchOfNode, start } from '../lab.ts';

const TOO_LARGE = 16 * 2 ** 20;
const INJECTED = 'x\0exec\0sh\0-c\0echo injected';

export function describeImages(lab: Lab): void {
  const runs = async (name: string, image: Parameters<typeof loadAttacker>[2]) => {
    const loaded = await loadAttacker(lab.world(), name, image);
    const container = await start(lab, { ...loaded, command: ['id', '-u'], security: userOf(image?.config?.user) });
    return container.output();
  };

  promised(lab, 'containers')('read no users from files of the node', async () => {
    const scratch = scratchOfNode();
    writeFileSync(join(scratch, 'passwd'), 'victim:x:4242:4242::/:/bin/sh\n');
    for (const [i, target] of [scratch, `/../../../../../..${scratch}`].entries()) {
      const files = [{ type: 'link', path: '/etc/passwd', target: join(target, 'passwd') } as const];
      const outcome = await runs(`linked-users-${i}`, { files, config: { user: 'victim' } }).catch(() => 'rejected');
      expect(outcome).toBe('rejected');
    }
    const own = [
      { type: 'bytes', path: '/etc/passwd', bytes: Buffer.from('victim:x:4242:4242::/:/bin/sh\n') } as const,
    ];
    expect(await runs('own-users', { files: own, config: { user: 'victim' } })).toBe('4242');
  });

  promised(lab, 'containers')('have the agent read no endless file', async () => {
    const files = [{ type: 'link', path: '/etc/passwd', target: '/dev/zero' } as const];
    const before = process.memoryUsage().rss;
    const outcome = await runs('endless-users', { files, config: { user: 'victim' } }).catch(() => 'rejected');
    expect(outcome).toBe('rejected');
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });

  promised(
    lab,
    'containers',
    'keeper',
  )('have the agent read no huge file', async () => {
    const files = [{ type: 'bytes', path: '/etc/passwd', bytes: Buffer.alloc(TOO_LARGE, '#') } as const];
    await expect(runs('huge-users', { files })).rejects.toThrow('etc/passwd of the image cannot be read');
  });

  promised(lab, 'containers')('with zero bytes in their configuration inject nothing', async () => {
    const configs = [
      { env: ['PATH=/bin', `Z=${INJECTED}`] },
      { args: ['echo', INJECTED] },
      { workingDirectory: `/${INJECTED}` },
    ];
    for (const [i, config] of configs.entries()) {
      const run = async () => {
        const loaded = await loadAttacker(lab.world(), `zero-${i}`, { config });
        const command = 'args' in config ? undefined : ['true'];
        const container = await start(lab, { ...loaded, command, workingDirectory: undefined });
        return container.output();
      };
      expect(await run().catch(() => 'rejected'), JSON.stringify(config)).toMatch(/^rejected$|^$/);
    }
  });

  promised(lab, 'containers')(
    'with setuid programs give root of the container, unless new privileges are forbidden',
    async () => {
      const security = { ...DEFAULT_SECURITY, runAsUser: 1234, runAsGroup: 1234 };
      const setuid = `${SETUID_PERL} -e 'print "$>\\n"'; cat /proc/self/uid_map`;
      const run = async (noNewPrivileges: boolean) =>
        (await (await attack(lab, setuid, { security: { ...security, noNewPrivileges } })).output()).split('\n');
      const [user, map = ''] = await run(false);
      expect(user).toBe('0');
      // That root is none on the node.
      if (lab.unpromised['user namespaces'] === undefined) expect(map).not.toMatch(/^\s*0\s+0\s/);
      expect((await run(true))[0]).toBe('1234');
    },
  );
}

function userOf(user: string | undefined) {
  return { ...DEFAULT_SECURITY, runAsUsername: user };
}
