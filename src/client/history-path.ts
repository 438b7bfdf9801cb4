/** Where a server of this program tells when which `resourceVersion` was reached. */
export const HISTORY_PATH = '/history';
