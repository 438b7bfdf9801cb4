/** The path of the history of a Quarterdeck server: when each `resourceVersion` was reached. */
export const HISTORY_PATH = '/history';
