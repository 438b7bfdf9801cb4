import { describe, expect, it } from 'vitest';
import { defineKind } from '../../src/kinds/kind.ts';
import { s } from '../../src/schema/builders.ts';
import { poorDescriptions } from './descriptions.ts';

describe('poor descriptions', () => {
  const problems = (fields: Parameters<typeof defineKind>[0]['fields']) => {
    const kind = defineKind({
      group: 'stable.example.com',
      kind: 'Backup',
      plural: 'backups',
      scope: 'Namespaced',
      description: 'A scheduled copy of a database.',
      versions: { 'stable.example.com/v1': {} },
      fields,
    });
    return poorDescriptions([kind])
      .filter(({ path }) => path.startsWith('stable.example.com/v1/Backup.spec'))
      .map(({ subject, problem }) => `${subject} ${problem}`);
  };

  it('are those that are missing, short, empty or the name again, at any depth', () => {
    const Target = s.object('Target', {
      bucket: s.string({ description: 'Bucket' }),
      region: s.string({ description: 'Where.' }),
      wanted: s.any({ description: 'What is wanted.' }),
      prefix: s.string({ description: 'Prefix of the names of the stored files' }),
      keep: s.int32({ description: 'Number of copies to keep. Defaults to 3.' }),
    });
    const description = 'Desired state of the backup.';
    expect(problems({ spec: s.object('Spec', { targets: s.list(Target) }, { description }) })).toEqual([
      'Spec.targets has no description',
      'Target has no description',
      'Target.bucket only repeats the name',
      'Target.region is shorter than 12 characters',
      'Target.wanted says nothing',
      'Target.prefix is not a sentence',
    ]);
  });

  it('include shapes that neither themselves nor their uses describe', () => {
    const Shape = s.object('Shape', {});
    const Described = s.object('Described', {}, { description: 'A shape with words of its own.' });
    const description = 'Desired state of the backup.';
    expect(problems({ spec: s.use(Shape, { description }) })).toEqual([]);
    expect(problems({ spec: s.use(Described, { description }) })).toEqual([]);
    expect(problems({ spec: Shape })).toEqual(['Backup.spec has no description', 'Shape has no description']);
  });
});
