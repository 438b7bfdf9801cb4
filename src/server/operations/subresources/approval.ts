import { objectPart } from './object-part.ts';

/** Approves or denies a CertificateSigningRequest. The kind preserves everything but the conditions. */
export const approval = objectPart('approval', 'any');
