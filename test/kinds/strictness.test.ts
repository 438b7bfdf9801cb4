/** Tests that the server accepts without complaint what it hands out, in every version of every kind. */
import { expect, test } from 'vitest';
import { type Call, RequestNotes } from '../../src/api/call.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { exampleOf } from '../support/kinds/examples.ts';
import { testServer } from '../support/server.ts';

const replaceable = allKinds.filter(({ verbs }) => verbs === undefined || verbs.includes('update'));

test.each(replaceable.map((kind) => [kind.kind, kind] as const))('a %s', async (_, kind) => {
  const { server, get } = await testServer(allKinds);
  const example = exampleOf(kind);
  const namespace = kind.scope === 'Namespaced' ? 'default' : undefined;
  const { name } = example.metadata;
  const write = async (verb: Call['verb'], apiVersion: string, body: any) => {
    const metadata = { ...body.metadata, namespace };
    const options = { fieldValidation: 'Strict' };
    const call = { verb, apiVersion, plural: kind.plural, body: { ...body, metadata }, options };
    const user = { name: 'tester', groups: [] };
    const notes = new RequestNotes();
    await server.handle(
      {
        ...call,
        ...(verb === 'update' ? { name } : {}),
        ...(namespace ? { namespace } : {}),
        user,
      },
      notes,
    );
    return notes;
  };
  await write('create', example.apiVersion, example);
  for (const { apiVersion, deprecated } of kind.versions) {
    const served = await get(kind.plural, name, {
      apiVersion,
      ...(namespace ? {} : { namespace: undefined as never }),
    });
    const { warnings } = await write('update', apiVersion, served);
    expect(warnings).toEqual(deprecated ? [deprecated] : undefined);
  }
});
