/** Compares our published document with that of Kubernetes 1.36. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { BackendRegistry } from '../../src/server/serving/backends/backend-registry.ts';
import { OpenApi } from '../../src/server/serving/openapi/openapi.ts';
import { referenceDirectory } from '../kinds/published.ts';
import { compareDefinitions, compareOperations } from './comparison.ts';

const directory = referenceDirectory();
const where = directory ? '' : ' (skipped: no published schemas; QUARTERDECK_REFERENCE names their directory)';

describe.skipIf(!directory)(`the OpenAPI 2 document, beside the published one${where}`, async () => {
  const read = (file: string) => JSON.parse(readFileSync(join(directory!, file), 'utf8'));
  const published = directory ? read('openapi-1.36.json') : undefined;
  const document = await new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources))).document(
    '/openapi/v2',
    undefined,
  );
  const ours = JSON.parse(String(document?.body));

  it('has every definition that a served kind reaches, with the same fields, types, keys and strategies', () => {
    expect(compareDefinitions(ours.definitions, published.definitions)).toEqual([
      // Fields of Kubernetes 1.7 that are gone since.
      'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.clusterName: published nowhere',
      'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.initializers: published nowhere',
    ]);
  });

  it('names every operation and what it does as Kubernetes does', () => {
    expect(compareOperations(ours.paths, published.paths)).toEqual([]);
  });

  it('notices a difference', () => {
    const changed = structuredClone(ours);
    delete changed.definitions['io.k8s.api.core.v1.PodSpec'].properties.containers['x-kubernetes-patch-merge-key'];
    delete changed.definitions['io.k8s.api.core.v1.Volume'];
    changed.definitions['io.k8s.api.core.v1.Probe'].properties.periodSeconds.format = 'int64';
    changed.paths['/api/v1/pods'].get.operationId = 'listPods';
    const found = compareDefinitions(changed.definitions, published.definitions);
    expect(found).toEqual(
      expect.arrayContaining([
        'io.k8s.api.core.v1.Volume: missing',
        expect.stringMatching(/^io\.k8s\.api\.core\.v1\.PodSpec\.containers: schema: /),
        expect.stringMatching(/^io\.k8s\.api\.core\.v1\.Probe\.periodSeconds: schema: /),
      ]),
    );
    expect(compareOperations(changed.paths, published.paths)).toEqual([
      'get /api/v1/pods: operationId: ours "listPods", published "listCoreV1PodForAllNamespaces"',
    ]);
  });
});
