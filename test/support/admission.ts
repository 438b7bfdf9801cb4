/** A server with chosen plugins, for their tests. */
import { isApiError } from '../../src/api/errors.ts';
import { clone, deepEqual } from '../../src/base/json/tree.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { decode } from '../../src/schema/decode/decode.ts';
import type { AdmissionRequest } from '../../src/server/objects/admission/request.ts';
import type { AdmissionPlugin } from '../../src/server/operations/admission/plugin.ts';
import { namespaceLifecycle } from '../../src/server/operations/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { type TestServer, testServer } from './server.ts';

export function admitting(plugins: readonly AdmissionPlugin[], options: Parameters<typeof testServer>[1] = {}) {
  return testServer(allKinds, { ...options, admission: [namespaceLifecycle, ...plugins].map(keepingItsPromise) });
}

/** Wraps a plugin, and fails when it declares `keepsDefaults` and has left out a default. */
export function keepingItsPromise(plugin: AdmissionPlugin): AdmissionPlugin {
  if (!plugin.admit || !plugin.keepsDefaults) return plugin;
  const check = ({ kind, object }: AdmissionRequest) => {
    // The bodies of subresources have other schemas.
    if (object?.kind !== kind.kind) return;
    const complete = decode(kind.hub.schema, clone(object));
    if (!deepEqual(complete, object)) {
      throw new Error(
        `${plugin.name} left out defaults: ${JSON.stringify(object)} should be ${JSON.stringify(complete)}`,
      );
    }
  };
  return {
    ...plugin,
    admit(core, request) {
      const waiting = plugin.admit!(core, request);
      if (waiting) return waiting.then(() => check(request));
      check(request);
    },
  };
}

/** Returns a pod of one container, with these fields in its spec. */
export const podNamed = (name: string, spec: Record<string, unknown> = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
});

/** Writes a status. */
export async function putStatus(server: TestServer, plural: string, name: string, status: object): Promise<any> {
  return server.patch(plural, name, { status }, { subresource: 'status' });
}

/** Returns the message of a rejection; fails when the request is not rejected. */
export async function rejection(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (isApiError(error)) return error.message;
    throw error;
  }
  throw new Error('it was admitted');
}
