import { isDeepStrictEqual } from 'node:util';
import { childrenOf, statusOf } from './children.js';

const WEBSITE = 'example.com/v1';
const ALREADY_EXISTS = 409;
const NOT_FOUND = 404;

/** Brings every Website to its desired state, until the signal is aborted. */
export async function runOperator(client, { signal, onError = () => undefined }) {
  const keys = new Keys((key) => reconcile(client, key), onError);
  await Promise.all([
    follow(client.of('Website', WEBSITE), signal, ({ metadata }) => keys.add(metadata)),
    follow(client.of('Deployment', 'apps/v1'), signal, ({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ kind, controller }) => controller && kind === 'Website');
      if (owner) keys.add({ name: owner.name, namespace: metadata.namespace });
    }),
  ]);
}

/** Reads everything anew, and does what is missing: whatever woke it, and however often it was interrupted. */
async function reconcile(client, { name, namespace }) {
  const websites = client.of('Website', WEBSITE).in(namespace);
  const website = await websites.get(name).catch(unlessMissing);
  if (!website || website.metadata.deletionTimestamp) return; // The garbage collector deletes its objects.
  for (const child of childrenOf(website)) await ensure(client, child);
  const deployment = await client.of('Deployment', 'apps/v1').in(namespace).get(name);
  const status = statusOf(website, deployment);
  if (isDeepStrictEqual(status, website.status)) return;
  await websites.patchStatus(name, { type: 'merge', changes: { status } });
}

async function ensure(client, object) {
  const { apiVersion, kind, metadata } = object;
  const objects = client.of(kind, apiVersion).in(metadata.namespace);
  try {
    await objects.create(object);
  } catch (error) {
    if (error.code !== ALREADY_EXISTS) throw error;
    await objects.patch(metadata.name, { type: 'merge', changes: object });
  }
}

/** Passes on all objects of a kind, and each of them again whenever it changes. A watch that breaks off is started anew. */
async function follow(resource, signal, onObject) {
  while (!signal.aborted) {
    try {
      for await (const { object } of await resource.watch({ signal })) onObject(object);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Works on each key at most once at a time, and again if it was added meanwhile. */
class Keys {
  #waiting = new Map();
  #isWorking = false;

  constructor(work, onError) {
    this.work = work;
    this.onError = onError;
  }

  add({ name, namespace }) {
    this.#waiting.set(`${namespace}/${name}`, { name, namespace });
    if (!this.#isWorking) this.#run();
  }

  async #run() {
    this.#isWorking = true;
    for (const [id, key] of this.#waiting) {
      this.#waiting.delete(id);
      // What failed is tried again with the next change; an operator in production would also try again after a while.
      await this.work(key).catch(this.onError);
    }
    this.#isWorking = false;
  }
}

function unlessMissing(error) {
  if (error.code !== NOT_FOUND) throw error;
  return undefined;
}
