import type { Operation } from '../operation.ts';
import type { SubresourceDescriptor } from './descriptor.ts';

/** A descriptor with what performs its verbs. */
export type Subresource = SubresourceDescriptor<Operation>;
