import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { systemRandom } from '../../base/random.ts';
import { createSeal, createUnseal } from './age.ts';
import { MAX_HEADER_BYTES } from './header.ts';

/** Length of an encrypted chunk and of its plain text. */
const CHUNK_BYTES = 64 * 1024;

let directory: string;
const secretFile = (name: string, content: string, mode = 0o600): string => {
  const file = join(directory, name);
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
};

async function* pieces(content: Uint8Array, size = 10_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
async function collected(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const sealedFor = async (settings: Parameters<typeof createSeal>[0], content: Uint8Array) =>
  collected((await createSeal(settings, systemRandom))!.seal.sealed(pieces(content)));
const openedBy = async (settings: Parameters<typeof createUnseal>[0], file: Uint8Array, size?: number) =>
  collected((await createUnseal(settings))!.unseal.opened(pieces(file, size)));

beforeEach(() => {
  directory = temporaryDirectory();
});

describe('a seal for recipients', () => {
  let recipient: string;
  let identityFile: string;
  beforeEach(async () => {
    const identity = await generateIdentity();
    recipient = await identityToRecipient(identity);
    identityFile = secretFile('identity', `# created: today\n# public key: ${recipient}\n${identity}\n`);
  });

  it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])(
    'restores %i bytes',
    async (length) => {
      const content = systemRandom.bytes(length);
      const file = await sealedFor({ recipients: [recipient] }, content);
      if (length > 100) expect(file.includes(content.subarray(0, 100))).toBe(false);
      expect(content.equals(await openedBy({ identityFile }, file))).toBe(true);
    },
  );

  it('is opened by the identity of each of them', async () => {
    const other = await generateIdentity();
    const file = await sealedFor({ recipients: [await identityToRecipient(other), recipient] }, Buffer.from('content'));
    expect(String(await openedBy({ identityFile }, file))).toBe('content');
    const both = secretFile('both', `${await generateIdentity()}\n${other}\n`);
    expect(String(await openedBy({ identityFile: both }, file))).toBe('content');
  });

  it('detects every truncation, also between chunks', async () => {
    const file = await sealedFor({ recipients: [recipient] }, systemRandom.bytes(2 * CHUNK_BYTES));
    const payload = file.length - 2 * (CHUNK_BYTES + 16);
    for (const length of [0, 5, 30, payload - 17, payload - 1, payload, payload + CHUNK_BYTES + 16, file.length - 1]) {
      await expect(openedBy({ identityFile }, file.subarray(0, length))).rejects.toMatchObject({ problem: 'Damaged' });
    }
  });

  it('detects changed and added bytes', async () => {
    const file = await sealedFor({ recipients: [recipient] }, systemRandom.bytes(CHUNK_BYTES));
    for (const at of [25, 60, 130, 250, file.length - 20_000, file.length - 1]) {
      const changed = Buffer.from(file);
      changed[at]! ^= 1;
      await expect(openedBy({ identityFile }, changed)).rejects.toMatchObject({ name: 'SealError' });
    }
    await expect(openedBy({ identityFile }, Buffer.concat([file, Buffer.alloc(1)]))).rejects.toThrow(
      /damaged or incomplete/,
    );
  });

  it('tells that no identity fits', async () => {
    const file = await sealedFor({ recipients: [recipient] }, Buffer.from('content'));
    const other = secretFile('other', await generateIdentity());
    await expect(openedBy({ identityFile: other }, file)).rejects.toThrow(
      `no identity in ${other} opens the encrypted file`,
    );
    const passphraseFile = secretFile('passphrase', 'a long enough passphrase');
    await expect(openedBy({ passphraseFile }, file)).rejects.toThrow(/for recipients; name the file with the identity/);
  });

  it.each([
    ['age1abc', /expected a recipient of age \(age1…\), found "age1abc"/],
    ['ssh-ed25519 AAAA', /expected a recipient of age/],
    ['AGE-SECRET-KEY-1QQQ', /^(?!.*QQQ).*found an identity/],
  ])('rejects the recipient %s', async (wrong, message) => {
    await expect(createSeal({ recipients: [wrong] }, systemRandom)).rejects.toThrow(message);
  });

  it.each([
    ['nothing', '', /it has none/],
    ['a comment', '# only a comment\n', /it has none/],
    ['something else', '# one\nsecret\n', /^(?!.*secret).*line 2 is something else/],
    ['a malformed identity', 'AGE-SECRET-KEY-1QQQ\n', /^(?!.*QQQ).*malformed/],
    ['encrypted identities', 'age-encryption.org/v1\n-> scrypt', /it is encrypted\. .*age --decrypt/],
    ['too much', '#'.repeat(70_000), /more than 65536 bytes/],
  ])('rejects an identity file with %s', async (_, content, message) => {
    await expect(createUnseal({ identityFile: secretFile('wrong', content) })).rejects.toThrow(message);
  });
});

describe('a seal with a passphrase', () => {
  const PASSPHRASE = 'correct horse battery staple';

  it('is opened by the passphrase, with or without a line break', async () => {
    const file = await sealedFor({ passphraseFile: secretFile('a', `${PASSPHRASE}\n`) }, Buffer.from('content'));
    expect(String(await openedBy({ passphraseFile: secretFile('b', PASSPHRASE) }, file))).toBe('content');
    const identityFile = secretFile('identity', await generateIdentity());
    const passphraseFile = secretFile('c', `${PASSPHRASE}\r\n`);
    expect(String(await openedBy({ passphraseFile, identityFile }, file))).toBe('content');
    await expect(openedBy({ identityFile }, file)).rejects.toThrow(/encrypted with a passphrase; name the file/);
    const wrong = secretFile('wrong', 'another long passphrase');
    await expect(openedBy({ passphraseFile: wrong }, file)).rejects.toMatchObject({
      ...{ problem: 'Key', message: `the passphrase in ${wrong} does not open the encrypted file` },
    });
  });

  it.each([
    ['', /it is empty.*openssl rand/],
    ['  \n', /it is empty/],
    ['one\ntwo\n', /several lines/],
  ])('rejects a file with %j', async (content, message) => {
    await expect(createSeal({ passphraseFile: secretFile('p', content) }, systemRandom)).rejects.toThrow(message);
  });

  it('names a file that is missing', async () => {
    const passphraseFile = join(directory, 'none');
    await expect(createSeal({ passphraseFile }, systemRandom)).rejects.toThrow(
      `${passphraseFile} cannot be read: it does not exist`,
    );
    await expect(createSeal({ passphraseFile: directory }, systemRandom)).rejects.toThrow(/it is a directory/);
  });

  it('warns of files that others can read, and of short ones', async () => {
    const open = await createSeal({ passphraseFile: secretFile('open', PASSPHRASE, 0o644) }, systemRandom);
    expect(open!.warnings).toEqual([expect.stringMatching(/can be read by other users .*mode 644.*chmod 600/)]);
    const short = await createSeal({ passphraseFile: secretFile('short', 'abc') }, systemRandom);
    expect(short!.warnings).toEqual([expect.stringMatching(/has 3 characters/)]);
    expect((await createSeal({ passphraseFile: secretFile('good', PASSPHRASE) }, systemRandom))!.warnings).toEqual([]);
  });

  it('excludes recipients, and is not there without settings', async () => {
    const both = { passphraseFile: secretFile('p', PASSPHRASE), recipients: ['age1abc'] };
    await expect(createSeal(both, systemRandom)).rejects.toThrow(/passphrase or for recipients; remove one/);
    expect(await createSeal({}, systemRandom)).toBeUndefined();
    expect(await createUnseal({})).toBeUndefined();
  });
});

describe('files that others made', () => {
  const HEAD = 'age-encryption.org/v1\n';
  let passphraseFile: string;
  beforeEach(() => {
    passphraseFile = secretFile('passphrase', 'correct horse battery staple');
  });

  it.each([
    ['another format', '{"json": true}', /expected a file of age, version 1; it starts with "\{\\"json/],
    ['a later version', 'age-encryption.org/v2\n', /expected a file of age, version 1/],
    ['armor', '-----BEGIN AGE ENCRYPTED FILE-----\nYWdl', /it is armored/],
    ['no content', '', /the file ends in it/],
    ['an endless header', HEAD + '-> X 1\n'.repeat(MAX_HEADER_BYTES), /no end within 65536 bytes/],
    ['an endless line', HEAD + 'x'.repeat(MAX_HEADER_BYTES * 2), /no end within 65536 bytes/],
    ['an endless last line', `${HEAD}--- ${'x'.repeat(MAX_HEADER_BYTES)}`, /no end within 65536 bytes/],
    [
      'a costly passphrase',
      `${HEAD}-> scrypt ${'A'.repeat(22)} 30\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`,
      /work factor of 30/,
    ],
    ['a malformed entry', `${HEAD}-> scrypt AAAA 17\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`, /malformed entry/],
    ['no key', `${HEAD}-> scrypt\n\n--- ${'A'.repeat(43)}\n`, /malformed entry/],
  ])('are rejected with %s', async (_, file, message) => {
    for (const size of [1000, 1_000_000]) {
      await expect(openedBy({ passphraseFile }, Buffer.from(file), size)).rejects.toThrow(message);
    }
  });

  it('are read byte by byte as well', async () => {
    const content = systemRandom.bytes(300);
    const file = await sealedFor({ passphraseFile }, content);
    expect(content.equals(await openedBy({ passphraseFile }, file, 1))).toBe(true);
  });
});

describe('the source of a file', () => {
  it('is not blamed on its content when reading fails, and is closed when the reader stops', async () => {
    const identity = await generateIdentity();
    const identityFile = secretFile('identity', identity);
    const recipients = [await identityToRecipient(identity)];
    const file = await sealedFor({ recipients }, systemRandom.bytes(10 * CHUNK_BYTES));
    const { unseal } = (await createUnseal({ identityFile }))!;
    const { seal } = (await createSeal({ recipients }, systemRandom))!;
    const broken = new Error('the network broke');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield file.subarray(0, 300_000);
      throw broken;
    }
    await expect(collected(unseal.opened(failing()))).rejects.toBe(broken);
    await expect(collected(seal.sealed(failing()))).rejects.toBe(broken);

    let closed = 0;
    async function* watched(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces(file);
      } finally {
        closed++;
      }
    }
    for (const result of [unseal.opened(watched()), seal.sealed(watched())]) {
      let chunks = 0;
      for await (const _ of result) if (++chunks === 3) break;
    }
    await expect.poll(() => closed).toBe(2);
  });

  it('is read no faster than the result', async () => {
    const identity = await generateIdentity();
    const { seal } = (await createSeal({ recipients: [await identityToRecipient(identity)] }, systemRandom))!;
    let read = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        read += CHUNK_BYTES;
        yield Buffer.alloc(CHUNK_BYTES);
      }
    }
    let chunks = 0;
    for await (const _ of seal.sealed(endless())) if (++chunks === 20) break;
    expect(read).toBeLessThan(40 * CHUNK_BYTES);
  });
});
