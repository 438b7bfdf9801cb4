import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { Cluster } from '../../src/kinds/groups/federation/cluster.ts';
import { s } from '../../src/schema/builders.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { Definitions } from '../../src/server/serving/openapi/definitions.ts';
import { poorDescriptions } from './descriptions.ts';

it('every field of every kind is described, in every served version', () => {
  const poor = [...allKinds, Cluster].flatMap((kind) =>
    kind.versions.flatMap(({ schema, apiVersion }) => poorDescriptions(schema, `${apiVersion} ${kind.kind}`)),
  );
  expect([...new Set(poor)]).toEqual([]);
});

it('everything else that is published is described: lists, bodies of subresources, options and discovery documents', () => {
  const { all } = new Definitions(new Registry(allKinds, allSubresources));
  const poor = [...all.values()].flatMap(({ shape, name }) => poorDescriptions(shape, name));
  expect([...new Set(poor)]).toEqual([]);
});

describe('poor descriptions', () => {
  const description = 'Desired state of the backup.';

  it('are those that are missing, short, empty or the name again, at any depth', () => {
    const Target = s.object('Target', {
      bucket: s.string('Bucket'),
      region: s.string('Where.'),
      wanted: s.any('What is wanted.'),
      prefix: s.string('Prefix of the names of the stored files'),
      keep: s.int32('Number of copies to keep. Defaults to 3.'),
    });
    expect(poorDescriptions(s.object('Spec', description, { targets: s.list(Target) }), 'spec')).toEqual([
      'Spec.targets has no description (spec.targets)',
      'Target has no description (spec.targets)',
      'Target.bucket only repeats the name (spec.targets.bucket)',
      'Target.region is shorter than 12 characters (spec.targets.region)',
      'Target.wanted says nothing (spec.targets.wanted)',
      'Target.prefix is not a sentence (spec.targets.prefix)',
    ]);
  });

  it('include shapes that neither themselves nor their uses describe', () => {
    const Shape = s.object('Shape', {});
    expect(poorDescriptions(s.use(Shape, description), 'spec')).toEqual([]);
    expect(poorDescriptions(Shape, 'spec')).toEqual(['Shape has no description (spec)']);
  });
});
