import { CONTAINER, podStream } from './pod-stream.ts';

/** Connects to the process of a container. */
export const attach = podStream('attach', { optionsKind: 'PodAttachOptions', parameters: CONTAINER });
