import type { Kind, Verb, Version } from '../../../kinds/kind.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { BodyType, SubresourceDescriptor } from './descriptor.ts';

export interface ServedSubresource {
  readonly name: SubresourceName;
  readonly descriptor: SubresourceDescriptor;
  /** Verbs in the order of discovery. */
  readonly verbs: readonly Verb[];
  /** The kind in discovery: that of bodies, replies or options. */
  readonly body: BodyType;
}

/** Returns the subresources that a version of a kind declares, by name and sorted. */
export function servedSubresources(
  descriptors: ReadonlyMap<string, SubresourceDescriptor>,
  kind: Kind,
  version: Version,
): ReadonlyMap<string, ServedSubresource> {
  const names = Object.keys(version.subresources).sort();
  return new Map(
    names.map((name) => {
      const descriptor = descriptors.get(name);
      if (!descriptor) throw new Error(`kind ${kind.kind} declares the unknown subresource ${name}`);
      return [name, serve(descriptor, kind, version)];
    }),
  );
}

function serve(descriptor: SubresourceDescriptor, kind: Kind, version: Version): ServedSubresource {
  const { name, operations } = descriptor;
  const verbs = (Object.keys(operations) as Verb[]).sort();
  return Object.freeze({ name, descriptor, verbs, body: bodyOf(descriptor, kind, version) });
}

function bodyOf({ content }: SubresourceDescriptor, kind: Kind, version: Version): BodyType {
  const { apiVersion } = version;
  switch (content.type) {
    case 'object':
    case 'text':
      return {
        kind: kind.kind,
        apiVersion,
        // The schema of a custom kind is built on first use; discovery needs only its name.
        get schema() {
          return version.schema;
        },
      };
    case 'body':
      return content.of(kind, version);
    case 'connection':
      return { kind: content.optionsKind(kind), apiVersion };
  }
}

/** Reports whether a path may follow the name of the subresource. */
export function takesPath({ descriptor: { content } }: ServedSubresource): boolean {
  return content.type === 'connection' && content.takesPath === true;
}
