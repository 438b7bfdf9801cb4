/** The media types of OCI and of Docker, which mean the same. */

export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const OCI_CONFIG = 'application/vnd.oci.image.config.v1+json';
export const OCI_LAYER = 'application/vnd.oci.image.layer.v1.tar';
export const OCI_LAYER_GZIP = 'application/vnd.oci.image.layer.v1.tar+gzip';
const DOCKER_INDEX = 'application/vnd.docker.distribution.manifest.list.v2+json';
const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';

/** Media types requested from a registry. */
export const MANIFEST_TYPES = [OCI_INDEX, OCI_MANIFEST, DOCKER_INDEX, DOCKER_MANIFEST];

export function isIndex(mediaType: string): boolean {
  return mediaType === OCI_INDEX || mediaType === DOCKER_INDEX;
}

export function isManifest(mediaType: string): boolean {
  return mediaType === OCI_MANIFEST || mediaType === DOCKER_MANIFEST;
}
