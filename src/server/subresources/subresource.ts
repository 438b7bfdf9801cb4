import type { SubresourceName } from '../../kinds/subresources.ts';
import type { Operation } from '../operation.ts';
import type { SubresourceDescriptor } from './descriptor.ts';

/** A descriptor with what performs its verbs. */
export type Subresource<Name extends SubresourceName = SubresourceName> = SubresourceDescriptor<Operation, Name>;
