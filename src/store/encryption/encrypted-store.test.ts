import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contents, describeStore, put, watching } from '../../../test/support/store/contract.ts';
import { systemRandom as random } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { EncryptedStore } from './encrypted-store.ts';
import { Envelopes, isSealed, keyIdOf, StoreSealed } from './envelope.ts';
import { formatKeyring, type Keyring, newKey, parseKeyring } from './keyring.ts';

const memory = () => new MemoryStore({ clock: systemClock });
const keyring = (): Keyring => [newKey(random)];
const secrets = ['/secrets/'];

describeStore('encrypted', async () => new EncryptedStore(memory(), { random, keys: keyring(), prefixes: ['/'] }));

describe('the encrypted store', () => {
  it('leaves no plaintext byte of a covered value in the store, and stores other values unchanged', async () => {
    const inner = memory();
    const store = new EncryptedStore(inner, { random, keys: keyring(), prefixes: secrets });
    await put(store, '/secrets/a', 'the password is swordfish');
    await put(store, '/pods/a', 'nothing to hide');
    const kept = (await inner.get('/secrets/a'))!.value;
    expect(isSealed(kept)).toBe(true);
    expect(kept.includes('swordfish')).toBe(false);
    expect((await inner.get('/pods/a'))!.value.toString()).toBe('nothing to hide');
    expect(await contents(store, '/')).toEqual({
      '/secrets/a': 'the password is swordfish',
      '/pods/a': 'nothing to hide',
    });
  });

  it('reads unencrypted values, and encrypts them on request', async () => {
    const inner = memory();
    await put(inner, '/secrets/old', 'plain');
    const store = new EncryptedStore(inner, { random, keys: keyring(), prefixes: secrets });
    expect(await contents(store, '/')).toEqual({ '/secrets/old': 'plain' });
    expect(await store.reencrypt()).toBe(1);
    expect(isSealed((await inner.get('/secrets/old'))!.value)).toBe(true);
    expect(await contents(store, '/')).toEqual({ '/secrets/old': 'plain' });
    expect(await store.reencrypt()).toBe(0);
  });

  it('migrates to a new key, after which the old one is no longer needed', async () => {
    const inner = memory();
    const [old, next] = [newKey(random), newKey(random)];
    const store = new EncryptedStore(inner, { random, keys: [old], prefixes: secrets });
    for (let i = 0; i < 250; i++) await put(store, `/secrets/${i}`, `value ${i}`);
    const watch = watching(store, await store.revision());
    store.useKeys([next, old]);
    expect(await store.reencrypt()).toBe(250);
    const rows = (await inner.list('/')).rows;
    expect(rows.every(({ value }) => keyIdOf(value) === next.id)).toBe(true);
    const alone = new EncryptedStore(inner, { random, keys: [next], prefixes: secrets });
    expect(await contents(alone, '/')).toEqual(
      Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`/secrets/${i}`, `value ${i}`])),
    );
    await watch.through(await store.revision());
  });

  it('reports which key is missing, and that a value was changed or moved', async () => {
    const inner = memory();
    const lost = newKey(random);
    await put(new EncryptedStore(inner, { random, keys: [lost], prefixes: secrets }), '/secrets/a', 'x');
    const store = new EncryptedStore(inner, { random, keys: keyring(), prefixes: secrets });
    await expect(store.get('/secrets/a')).rejects.toThrow(`/secrets/a is encrypted with the key ${lost.id}`);

    await put(store, '/secrets/b', 'y');
    const { value } = (await inner.get('/secrets/b'))!;
    await inner.commit([{ key: '/secrets/c', value: Buffer.from(value) }]);
    await expect(store.get('/secrets/c')).rejects.toThrow('it was changed, or moved here');
    const changed = Buffer.from(value);
    changed[changed.length - 20]! ^= 1;
    await inner.commit([{ key: '/secrets/b', value: changed }]);
    await expect(store.list('/secrets/b')).rejects.toBeInstanceOf(StoreSealed);
  });

  it('ends a watch at a value it cannot read', async () => {
    const inner = memory();
    const store = new EncryptedStore(inner, { random, keys: keyring(), prefixes: secrets });
    const closed = new Promise<Error | undefined>((resolve) => {
      store.watch(1, { changes: () => undefined, closed: resolve });
    });
    await put(new EncryptedStore(inner, { random, keys: keyring(), prefixes: secrets }), '/secrets/a', 'x');
    expect(await closed).toBeInstanceOf(StoreSealed);
  });
});

describe('envelopes', () => {
  it('open to the sealed value, and are never equal', () => {
    const envelopes = new Envelopes(keyring(), random);
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ maxLength: 300 }), (place, bytes) => {
        const value = Buffer.from(bytes);
        const sealed = envelopes.seal(place, value);
        expect(isSealed(sealed)).toBe(true);
        expect(envelopes.open(place, sealed).equals(value)).toBe(true);
        expect(envelopes.seal(place, value).equals(sealed)).toBe(false);
      }),
    );
  });

  it('do not accept other values', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(isSealed(Buffer.from(bytes))).toBe(false);
      }),
    );
  });
});

describe('a key file', () => {
  it('has its keys in order', () => {
    const keys: Keyring = [newKey(random), newKey(random)];
    expect(parseKeyring(`# keys\n${formatKeyring(keys)}`)).toEqual(keys);
  });

  it.each(['', '# nothing\n', 'abcdef01 short\n', `${formatKeyring(keyring())}rubbish\n`])('is invalid: %j', (text) => {
    expect(parseKeyring(text)).toBeUndefined();
  });
});
