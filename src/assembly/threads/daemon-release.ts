/** Names of bundles contain a hash of their content. */
export const daemonRelease = (bundle: string) => `${bundle} ${process.version}`;
