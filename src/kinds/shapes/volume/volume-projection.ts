/** Source of a projected volume. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, required, under } from '../../../schema/field-error.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { LabelSelector } from '../meta/label-selector.ts';
import { projectedPath } from '../meta/paths.ts';
import { isClusterSigner, signerName, trustBundleName } from '../meta/signer-name.ts';
import { DownwardAPIFiles, KeysToPaths } from './volume-files.ts';

const keys = {
  name: s.string('Name of the ConfigMap or Secret, in the namespace of the pod.', { required: true }),
  items: KeysToPaths,
  optional: s.boolean(
    'If true, the ConfigMap or Secret or the keys in items may be missing. Defaults to false, so that the ' +
      'pod waits for them.',
  ),
};

const anyPath = s.string({ omitZero: true, rules: [matches(projectedPath)] });
const path = s.string("Path of the file, relative to the volume. Must not contain '..'.", {
  required: true,
  rules: [matches(projectedPath)],
});

const TEN_MINUTES = 600;

const token = {
  audience: s.string(
    'Audience that the token is meant for. A recipient must reject tokens for another audience. Defaults to ' +
      'the audience of the API server.',
    { omitZero: true },
  ),
  expirationSeconds: s.int64(
    'Validity of the token in seconds, at least 600. It is renewed before it expires. Defaults to 3600.',
    { default: 3600, rules: [tokenLife] },
  ),
  path,
};

function tokenLife(seconds: number): FieldError | undefined {
  if (seconds < TEN_MINUTES) return invalid('', seconds, 'may not specify a duration less than 10 minutes');
  return seconds > 2 ** 32 ? invalid('', seconds, 'may not specify a duration larger than 2^32 seconds') : undefined;
}

const bundle = {
  name: s.string('Name of one ClusterTrustBundle. Cannot be combined with signerName and labelSelector.'),
  signerName: s.string('Signer whose ClusterTrustBundles are used. Cannot be combined with name.'),
  labelSelector: s.use(
    LabelSelector,
    'Labels of the bundles to use, together with signerName. If absent, none is selected; if empty, all.',
  ),
  optional: s.boolean('If true, no bundle needs to exist. Defaults to false, so that the pod waits for one.'),
  path,
};

function bundleOf(value: ObjectType<typeof bundle>): FieldError[] {
  const { name, signerName: signer, labelSelector } = value;
  if (name !== undefined && signer !== undefined) {
    return [invalid('', value, 'only one of name and signerName may be used')];
  }
  if (name !== undefined) {
    const found = name ? [] : [required('name', 'must be a valid object name')];
    for (const complaint of trustBundleName(name)) {
      found.push(invalid('name', name, `not a valid clustertrustbundlename: ${complaint}`));
    }
    if (labelSelector) {
      found.push(invalid('labelSelector', labelSelector, 'labelSelector must be unset if name is specified'));
    }
    return found;
  }
  if (signer === undefined) return [required('', 'either name or signerName must be specified')];
  return signer ? under('signerName', signerName(signer)) : [required('signerName', 'must be a valid signer name')];
}

const certificate = {
  signerName: s.string('Signer that issues the certificate.', { required: true, rules: [signerName] }),
  keyType: s.enum(
    ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'],
    'Type of the key pair that is generated: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.',
    { required: true },
  ),
  maxExpirationSeconds: s.int32(
    'Maximum validity of the certificate in seconds, at least 3600 and at most 7862400 (91 days), or 86400 ' +
      'for signers of the cluster. The signer may issue a shorter one. Defaults to 86400.',
  ),
  credentialBundlePath: s.use(
    anyPath,
    'File, relative to the volume, with the private key followed by the certificate chain in PEM format.',
  ),
  keyPath: s.use(
    anyPath,
    'File, relative to the volume, with the private key in PEM format. Prefer credentialBundlePath, which is ' +
      'updated atomically.',
  ),
  certificateChainPath: s.use(
    anyPath,
    'File, relative to the volume, with the certificate chain in PEM format. Prefer credentialBundlePath, ' +
      'which is updated atomically.',
  ),
  userAnnotations: s.map(s.string(), 'Additional key-value pairs that are passed to the signer.'),
};

const HOUR = 3600;
const DAY = 24 * HOUR;

function certificateOf(value: ObjectType<typeof certificate>): FieldError[] {
  const { maxExpirationSeconds: seconds, signerName: signer = '' }: Partial<typeof value> = value;
  const found: FieldError[] = [];
  if (seconds !== undefined) {
    const longest = isClusterSigner(signer) ? DAY : 91 * DAY;
    const limit = seconds < HOUR ? `>= ${HOUR}` : seconds > longest ? `<= ${longest}` : undefined;
    if (limit) {
      const detail = `if provided, maxExpirationSeconds must be ${limit}`;
      found.push(invalid('maxExpirationSeconds', seconds, detail));
    }
  }
  if (!value.credentialBundlePath && !value.keyPath && !value.certificateChainPath) {
    const detail = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath';
    found.push(required('', detail));
  }
  return found;
}

const projection = {
  secret: s.object('SecretProjection', 'Keys of a Secret as files.', keys),
  downwardAPI: s.object('DownwardAPIProjection', 'Fields of the pod as files.', { items: DownwardAPIFiles }),
  configMap: s.object('ConfigMapProjection', 'Keys of a ConfigMap as files.', keys),
  serviceAccountToken: s.object(
    'ServiceAccountTokenProjection',
    "A token of the pod's service account as a file.",
    token,
  ),
  clusterTrustBundle: s.object(
    'ClusterTrustBundleProjection',
    'Trust anchors of ClusterTrustBundles as a file of PEM certificates.',
    bundle,
    { rules: [bundleOf] },
  ),
  podCertificate: s.object(
    'PodCertificateProjection',
    'A private key and a certificate for the pod, issued by a signer and renewed before they expire.',
    certificate,
    { rules: [certificateOf] },
  ),
};
type Projection = ObjectType<typeof projection>;

export const VolumeProjections = s.list(
  s.object(
    'VolumeProjection',
    'One source of a projected volume. Exactly one of its fields should be set.',
    projection,
    { rules: [oneSource] },
  ),
  'Sources of the files. No two of them may write to the same path.',
  { rules: [noSharedPaths] },
);

function oneSource(source: Projection): FieldError | undefined {
  const sources = Object.keys(source).length;
  return sources > 1 ? forbidden('', 'may not specify more than 1 volume type per source') : undefined;
}

/**
 * Checks that no two sources write the same file. Every pod has such a volume, so nothing is allocated unless there is
 * an error.
 */
function noSharedPaths(sources: readonly Projection[]): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  const write = (file: string | undefined, who = file) => {
    if (!file) return;
    if (seen.has(file)) found.push(invalid('', who ?? '', 'conflicting duplicate paths'));
    seen.add(file);
  };
  for (const { secret, configMap, downwardAPI, clusterTrustBundle, podCertificate } of sources) {
    for (const { path: file } of secret?.items ?? NONE) write(file, secret?.name ?? '');
    for (const { path: file } of configMap?.items ?? NONE) write(file, configMap?.name ?? '');
    for (const { path: file } of downwardAPI?.items ?? NONE) write(file);
    if (clusterTrustBundle) write(clusterTrustBundle.path);
    if (!podCertificate) continue;
    write(podCertificate.credentialBundlePath);
    write(podCertificate.keyPath);
    write(podCertificate.certificateChainPath);
  }
  return found;
}

const NONE: readonly { readonly path: string }[] = [];
