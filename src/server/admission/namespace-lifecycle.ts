import { ApiError, forbidden, notFound } from '../../base/errors.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Entry } from '../cache/entry.ts';
import type { Core } from '../core.ts';

const NAMESPACES = { group: '', plural: 'namespaces' };

/** Nothing is created in a namespace that does not exist or is on its way out. */
export function admitCreate(core: Core, kind: Kind, metadata: KubeObject['metadata']): Promise<void> | undefined {
  if (kind.scope !== 'Namespaced') return undefined;
  const entry = core.cache.table(NAMESPACES).get('', metadata.namespace ?? '');
  if (entry) return checkActive(core, kind, metadata, entry);
  return lookAgain(core, kind, metadata);
}

/** The namespace may be so new that this server has not seen it. */
async function lookAgain(core: Core, kind: Kind, metadata: KubeObject['metadata']): Promise<void> {
  const { namespace = '' } = metadata;
  await core.cache.fresh();
  const entry = core.cache.table(NAMESPACES).get('', namespace);
  if (!entry) throw notFound(NAMESPACES, namespace);
  checkActive(core, kind, metadata, entry);
}

function checkActive(core: Core, kind: Kind, metadata: KubeObject['metadata'], entry: Entry): undefined {
  const { namespace = '', name = '' } = metadata;
  const namespaces = core.registry.resource('v1', 'namespaces');
  if (!namespaces) return undefined;
  const object = entry.hub(namespaces.kind) as KubeObject & { status?: { phase?: string } };
  if (!object.metadata.deletionTimestamp && object.status?.phase !== 'Terminating') return undefined;
  const refused = forbidden(
    kind,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  throw new ApiError('Forbidden', refused.message, {
    details: {
      ...refused.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
}
