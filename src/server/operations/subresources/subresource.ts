import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { SubresourceDescriptor } from '../../objects/registry/descriptor.ts';
import type { Operation } from '../ports.ts';

/** A descriptor with the operations for its verbs. */
export type Subresource<Name extends SubresourceName = SubresourceName> = SubresourceDescriptor<Operation, Name>;
