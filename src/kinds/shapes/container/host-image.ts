/** The reserved image `host`, with which the process runtime runs containers on the files of the node instead of an image. */

/** An ID that no image has: that of the image `host`. */
export const HOST_IMAGE_ID = 'sha256:0000000000000000000000000000000000000000000000000000000000000000';

const HOST_IMAGE_NAMES = ['host', 'quarterdeck.local/host'];

/**
 * Reports whether an image name or ID means the files of the node, with any tag or digest. Admission and nodes share this
 * function: a spelling that only a node understood would evade admission.
 */
export function isHostImage(image: string): boolean {
  return image === HOST_IMAGE_ID || HOST_IMAGE_NAMES.includes(repositoryOf(image));
}

/** The name without tag and digest. A colon before a slash belongs to the port of a registry. */
function repositoryOf(image: string): string {
  const [name = ''] = image.split('@', 1);
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  return colon < 0 ? name : name.slice(0, colon);
}
