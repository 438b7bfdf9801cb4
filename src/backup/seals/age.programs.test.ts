/** The program `age` as the peer. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { systemRandom } from '../../base/random.ts';
import { createSeal, createUnseal } from './age.ts';

const missing = spawnSync('age', ['--version']).error ? 'age is not installed' : undefined;
const CONTENT = systemRandom.bytes(200_000);
const PASSPHRASE = 'correct horse battery staple';

describe.skipIf(missing)('age', () => {
  let directory: string;
  const at = (name: string) => join(directory, name);
  async function* content(): AsyncGenerator<Uint8Array> {
    yield CONTENT;
  }
  beforeEach(() => {
    directory = temporaryDirectory();
    writeFileSync(at('passphrase'), PASSPHRASE, { mode: 0o600 });
  });

  function newIdentity(): string {
    execFileSync('age-keygen', ['-o', at('identity')], { stdio: 'ignore' });
    return String(execFileSync('age-keygen', ['-y', at('identity')])).trim();
  }

  it('opens what is sealed for a recipient', async () => {
    const { seal } = (await createSeal({ recipients: [newIdentity()] }, systemRandom))!;
    await writeFile(at('file.age'), seal.sealed(content()));
    expect(CONTENT.equals(execFileSync('age', ['-d', '-i', at('identity'), at('file.age')]))).toBe(true);
  });

  it('seals for a recipient what is opened here', async () => {
    const file = execFileSync('age', ['-r', newIdentity()], { input: CONTENT });
    writeFileSync(at('file.age'), file);
    expect(CONTENT.equals(await opened({ identityFile: at('identity') }))).toBe(true);
  });

  it('opens what is sealed with a passphrase', async () => {
    const { seal } = (await createSeal({ passphraseFile: at('passphrase') }, systemRandom))!;
    await writeFile(at('file.age'), seal.sealed(content()));
    await onTerminal(['age', '-d', '-o', at('out'), at('file.age')], 1);
    expect(CONTENT.equals(readFileSync(at('out')))).toBe(true);
  });

  it('seals with a passphrase what is opened here', async () => {
    writeFileSync(at('plain'), CONTENT);
    await onTerminal(['age', '-p', '-o', at('file.age'), at('plain')], 2);
    expect(CONTENT.equals(await opened({ passphraseFile: at('passphrase') }))).toBe(true);
  });

  async function opened(settings: Parameters<typeof createUnseal>[0]): Promise<Buffer> {
    const { unseal } = (await createUnseal(settings))!;
    const chunks: Uint8Array[] = [];
    for await (const chunk of unseal.opened(createReadStream(at('file.age')))) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** Runs it on a terminal, which is the only place where it asks for a passphrase. */
  async function onTerminal(command: readonly string[], prompts: number): Promise<void> {
    const child = spawn('script', ['-qefc', command.join(' '), '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    let answered = 0;
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const asked = output.match(/passphrase[^:]*:/gi)?.length ?? 0;
      for (; answered < Math.min(asked, prompts); answered++) child.stdin.write(`${PASSPHRASE}\n`);
    });
    const [code] = await once(child, 'close');
    expect(code, output).toBe(0);
  }
});
