import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { defineKind, type Kind } from '../../src/kinds/kind.ts';
import { s } from '../../src/schema/builders.ts';
import type { Fields, ObjectSchema } from '../../src/schema/schema.ts';
import { differences, loadReference, referenceDirectory } from './published.ts';

const directory = referenceDirectory();
const where = directory ? '' : ' (skipped: no published schemas; QUARTERDECK_REFERENCE names their directory)';

describe.skipIf(!directory)(`our description, beside the published one${where}`, () => {
  const reference = directory ? loadReference(directory) : (undefined as never);

  // Groups that neither release has, such as metrics.k8s.io and those of custom kinds, cannot be compared.
  const isPublished = ({ group }: Kind) => reference.newer.hasGroup(group) || reference.older.hasGroup(group);
  const published = directory ? allKinds.filter(isPublished) : [];
  const served = published.flatMap((kind) => kind.versions.map((version) => ({ kind, version })));
  it.each(served.map(({ kind, version }) => [`${kind.kind} of ${version.apiVersion}`, kind, version] as const))(
    '%s has every field, with its type and its merge keys',
    (_name, kind, version) => {
      expect(differences(reference, kind, version)).toEqual([]);
    },
  );

  describe('a difference is noticed', () => {
    const check = (kind: Kind, fields: Fields) => {
      const changed = defineKind({ ...kind, versions: { v1: {} }, fields });
      return differences(reference, changed, changed.hub);
    };
    const withPorts = (ports: Fields[string]) => {
      const spec = Service.hub.schema.fields.spec as ObjectSchema;
      return { ...Service.fields, spec: s.object('ServiceSpec', { ...spec.fields, ports }) };
    };
    const portItems = () => {
      const { ports } = (Service.hub.schema.fields.spec as ObjectSchema).fields;
      return ports?.type === 'list' ? (ports.items as ObjectSchema) : expect.fail('ports are a list');
    };

    it('a missing field', () => {
      const { binaryData: _, ...fields } = ConfigMap.fields;
      expect(check(ConfigMap, fields)).toEqual(['binaryData: missing']);
    });

    it('a field that nobody published', () => {
      expect(check(ConfigMap, { ...ConfigMap.fields, extra: s.string() })).toEqual(['extra: published nowhere']);
    });

    it('another type', () => {
      const found = check(ConfigMap, { ...ConfigMap.fields, binaryData: s.map(s.string()) });
      expect(found).toEqual(['binaryData{}: ours is string, published is bytes']);
    });

    it('another width of an integer', () => {
      const items = s.object('ServicePort', { ...portItems().fields, port: s.int64({ zero: true }) });
      const found = check(Service, withPorts(s.listMap(items, { keys: ['port', 'protocol'] })));
      expect(found).toEqual(['spec.ports[].port: ours is int64, published is int32']);
    });

    it('another merge key, and other keys of a list', () => {
      const found = check(Service, withPorts(s.listMap(portItems(), { keys: ['name'] })));
      expect(found).toEqual([
        'spec.ports: ours merges by name, published by port',
        'spec.ports: ours has the keys name, published port,protocol',
      ]);
    });

    it('a list that should merge and is replaced', () => {
      const found = check(Service, withPorts(s.list(portItems())));
      expect(found).toContain('spec.ports: ours merges by undefined, published by port');
    });
  });
});
