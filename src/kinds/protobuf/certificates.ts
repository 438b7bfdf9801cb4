import type { FieldNumbers } from './field-numbers.ts';

export const certificates: FieldNumbers = {
  'certificates.k8s.io/v1': {
    CertificateSigningRequest: 'metadata spec status',
    CertificateSigningRequestCondition: 'type reason message lastUpdateTime lastTransitionTime status',
    CertificateSigningRequestSpec: 'request username uid groups usages extra signerName expirationSeconds?',
    CertificateSigningRequestStatus: 'conditions certificate',
  },
  'certificates.k8s.io/v1beta1': {
    ClusterTrustBundle: 'metadata spec',
    ClusterTrustBundleSpec: 'signerName trustBundle',
  },
};
