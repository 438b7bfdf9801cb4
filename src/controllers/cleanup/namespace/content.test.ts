import { expect, it } from 'vitest';
import { ScriptedApi } from '../../../../test/support/scripted-api.ts';
import { ApiError, methodNotAllowed, noSuchPath } from '../../../api/errors.ts';
import { createClient } from '../../../client/client.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { AggregatedKinds } from '../../shared/aggregated-kinds.ts';
import { contentOf } from './content.ts';

const Unlistable: Kind = { ...Secret, plural: 'bindings', verbs: ['create'] };
const { signal } = new AbortController();
const aggregated = new AggregatedKinds({ aggregated: () => [] });

const look = (api: ScriptedApi, ...served: Kind[]) =>
  contentOf('x', { client: createClient(api), signal, aggregated, kinds: () => served });

it('contentOf lists every kind of the namespace, and only of that', async () => {
  const api = new ScriptedApi();
  api.put('configmaps', { metadata: { name: 'a', namespace: 'x' } });
  api.put('configmaps', { metadata: { name: 'b', namespace: 'y' } });
  expect(await look(api, ConfigMap, Secret, Namespace, Unlistable)).toEqual({
    contents: [{ kind: ConfigMap, objects: [api.get('configmaps', 'x', 'a')], resourceVersion: String(api.revision) }],
    unlisted: [],
  });
  expect(api.requests.map(({ plural }) => plural)).toEqual(['configmaps', 'secrets']);
});

it.each([noSuchPath(), methodNotAllowed()])('contentOf passes over a kind that went away: %s', async (error) => {
  const api = new ScriptedApi();
  api.reject(({ plural }) => (plural === 'secrets' ? error : undefined));
  expect(await look(api, ConfigMap, Secret)).toEqual({ contents: [], unlisted: [] });
});

it('contentOf reports what could not be listed, and lists the rest', async () => {
  const api = new ScriptedApi();
  api.put('configmaps', { metadata: { name: 'a', namespace: 'x' } });
  api.reject(({ plural }) => (plural === 'secrets' ? new ApiError('InternalError', 'broken') : undefined));
  const found = await look(api, Secret, ConfigMap);
  expect(found.unlisted).toEqual(['broken']);
  expect(found.contents).toHaveLength(1);
});

it('contentOf reports that the kinds are not known', async () => {
  const kinds = () => {
    throw new Error('discovery failed');
  };
  const found = await contentOf('x', { client: createClient(new ScriptedApi()), signal, aggregated, kinds });
  expect(found).toMatchObject({ undiscovered: 'discovery failed', contents: [] });
});
