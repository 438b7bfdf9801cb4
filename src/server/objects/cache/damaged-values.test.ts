import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { scratchDirectories } from '../../../../test/support/store-directories.ts';
import { isApiError } from '../../../api/errors.ts';
import { systemRandom as random } from '../../../base/random.ts';
import { ControlledClock, systemClock } from '../../../base/time/clock.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { EncryptedStore } from '../../../store/encryption/encrypted-store.ts';
import { type Keyring, newKey } from '../../../store/encryption/keyring.ts';
import { openEmbeddedStore, type Store } from '../../../store/index.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';

const directory = await scratchDirectories();
const kinds = [Namespace, ConfigMap, Secret];
const KEY = '/registry/core/configmaps/default/';
const SECRETS = '/registry/core/secrets/';

const serverOn = async (store: Store) => testServer(kinds, { store, clock: new ControlledClock() });

describe('a stored value with a changed byte', () => {
  /** A stopped store with two ConfigMaps, of which `b` is damaged. */
  async function damaged(): Promise<string> {
    const path = directory();
    const store = await openEmbeddedStore({ directory: path, clock: systemClock });
    const api = await serverOn(store);
    for (const name of ['a', 'b'])
      await api.create('configmaps', { metadata: { name }, data: { is: `value-${name}` } });
    api.server.close();
    await store.close();
    const file = join(path, 'data.mdb');
    const bytes = await readFile(file);
    for (let at = bytes.indexOf('value-b'); at >= 0; at = bytes.indexOf('value-b', at + 1)) bytes[at] = 0x56;
    await writeFile(file, bytes);
    return path;
  }

  it('is never shown: reads of the object and lists of its kind are rejected with its key', async () => {
    const store = await openEmbeddedStore({ directory: await damaged(), clock: systemClock });
    const api = await serverOn(store);
    const failure = await api.get('configmaps', 'b').catch((error) => error);
    expect(isApiError(failure, 'InternalError')).toBe(true);
    expect(failure.message).toContain(`corrupt object, Code: 7, Key: ${KEY}b`);
    expect(failure.message).toContain('is damaged: its checksum does not match');
    const list = await api.list('configmaps').catch((error) => error);
    expect(isApiError(list, 'StorageReadError')).toBe(true);
    expect(list.details.causes).toMatchObject([{ field: `${KEY}b` }]);
    const replaced = { metadata: { name: 'b' }, data: {} };
    await expect(api.update('configmaps', replaced)).rejects.toMatchObject({ reason: 'InternalError' });
    await expect(api.delete('configmaps', 'b')).rejects.toMatchObject({ reason: 'InternalError' });
    api.server.close();
    await store.close();
  });

  it.each([2, 300])('ends a watch that selects among %i objects with an event that names it', async (count) => {
    const store = await openEmbeddedStore({ directory: await damaged(), clock: systemClock });
    const api = await serverOn(store);
    for (let index = 2; index < count; index++) await api.create('configmaps', { metadata: { name: `c${index}` } });
    const watch = await api.watch('configmaps', { options: { labelSelector: 'app=web' } });
    expect(await watch.next()).toMatchObject([
      { type: 'ERROR', object: { code: 500, message: expect.stringContaining(`${KEY}b`) } },
    ]);
    api.server.close();
    await store.close();
  });

  describe('a request that accepts the loss', () => {
    const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };

    it('deletes the object, after which the kind can be listed again, and watches continue', async () => {
      const store = await openEmbeddedStore({ directory: await damaged(), clock: systemClock });
      const api = await serverOn(store);
      const watch = await api.watch('configmaps', { options: { resourceVersion: String(store.revision()) } });
      expect(await api.delete('configmaps', 'b', { body })).toMatchObject({
        status: 'Success',
        details: { name: 'b' },
      });
      await expect(api.get('configmaps', 'b')).rejects.toMatchObject({ reason: 'NotFound' });
      const { items } = JSON.parse((await api.list('configmaps')).json().toString());
      expect(items.map(({ metadata }: any) => metadata.name)).toEqual(['a']);
      await api.create('configmaps', { metadata: { name: 'b' } });
      await watch.next();
      expect(watch.told()).toEqual(['ADDED b']);
      await expect(api.delete('configmaps', 'none', { body })).rejects.toMatchObject({ reason: 'NotFound' });
      api.server.close();
      await store.close();
    });

    it('deletes a readable object like any other delete: its finalizers hold it', async () => {
      const api = await testServer(kinds);
      await api.create('configmaps', { metadata: { name: 'a', finalizers: ['example.com/wait'] } });
      await api.delete('configmaps', 'a', { body });
      expect((await api.get('configmaps', 'a')).metadata.deletionTimestamp).toBeDefined();
    });

    it('needs a separate permission', async () => {
      const store = await openEmbeddedStore({ directory: await damaged(), clock: systemClock });
      const api = await testServer(kinds, { store, clock: new ControlledClock(), authorization: ['AlwaysDeny'] });
      await expect(api.delete('configmaps', 'b', { body, user: { name: 'jane', groups: [] } })).rejects.toMatchObject({
        reason: 'Forbidden',
        message: expect.stringContaining('cannot unsafe-delete-ignore-read-errors resource "configmaps"'),
      });
      api.server.close();
      await store.close();
    });
  });

  it('leaves all other objects unchanged', async () => {
    const store = await openEmbeddedStore({ directory: await damaged(), clock: systemClock });
    const api = await serverOn(store);
    expect((await api.get('configmaps', 'a')).data).toEqual({ is: 'value-a' });
    await api.create('configmaps', { metadata: { name: 'c' } });
    await api.create('namespaces', { metadata: { name: 'other' } }, { namespace: '' });
    const elsewhere = JSON.parse((await api.list('configmaps', { namespace: 'other' })).json().toString());
    expect(elsewhere.items).toEqual([]);
    api.server.close();
    await store.close();
  });

  it('ends history: a watch from before the start is expired, so that clients list again', async () => {
    const store = await openEmbeddedStore({ directory: await damaged(), clock: systemClock });
    const api = await serverOn(store);
    const watch = await api.watch('namespaces', { namespace: '', options: { resourceVersion: '2' } });
    expect(await watch.next()).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    api.server.close();
    await store.close();
  });
});

describe('an encrypted value', () => {
  const sealed = (inner: Store, keys: Keyring) => new EncryptedStore(inner, { keys, random, prefixes: [SECRETS] });

  async function withSecrets(keys: Keyring): Promise<MemoryStore> {
    const inner = new MemoryStore({ clock: new ControlledClock() });
    const api = await serverOn(sealed(inner, keys));
    for (const name of ['a', 'b']) await api.create('secrets', { metadata: { name } });
    api.server.close();
    return inner;
  }

  it('is rejected with its key after a change, and the others can be read', async () => {
    const keys: Keyring = [newKey(random)];
    const inner = await withSecrets(keys);
    const { value } = (await inner.get(`${SECRETS}default/b`))!;
    const changed = Buffer.from(value);
    changed[changed.length - 20]! ^= 1;
    await inner.commit([{ key: `${SECRETS}default/b`, value: changed }]);
    const api = await serverOn(sealed(inner, keys));
    expect((await api.get('secrets', 'a')).metadata.name).toBe('a');
    await expect(api.get('secrets', 'b')).rejects.toThrow(`Key: ${SECRETS}default/b`);
    await expect(api.get('secrets', 'b')).rejects.toThrow('cannot be decrypted');
  });

  it('prevents the start when its key is not in the key file, and names it', async () => {
    const inner = await withSecrets([newKey(random)]);
    await expect(serverOn(sealed(inner, [newKey(random)]))).rejects.toThrow(
      new RegExp(`^${SECRETS}default/a is encrypted with the key .*, which is not in the key file`),
    );
  });

  it('is rejected when it becomes unreadable while the server runs, and the others stay available', async () => {
    const keys: Keyring = [newKey(random)];
    const inner = await withSecrets(keys);
    const api = await serverOn(sealed(inner, keys));
    const { value } = (await inner.get(`${SECRETS}default/a`))!;
    await inner.commit([{ key: `${SECRETS}default/b`, value: Buffer.from(value) }]);
    await expect.poll(() => api.get('secrets', 'b').catch(({ message }) => message)).toContain('cannot be decrypted');
    await api.create('secrets', { metadata: { name: 'c' } });
    expect((await api.get('secrets', 'a')).metadata.name).toBe('a');
    api.server.close();
  });
});
