/**
 * True when every suite that drives kubectl, or runs on a release of Node, does so with each of them. Otherwise old
 * releases run the short list: what they do differently, and what every kind has in common.
 */
export const withAllReleases = process.env.QUARTERDECK_ALL_RELEASES === 'true';
