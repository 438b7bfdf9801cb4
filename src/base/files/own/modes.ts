/**
 * Modes of a node's directories and files, none of which are for other users of the machine. Root, and the user who
 * runs the agent, reach everything; access of others is decided here.
 */

/** Directories that only the agent and its programs use. */
export const PRIVATE_DIRECTORY = 0o700;

/**
 * Directories that lead to container roots and volumes. Their names cannot be listed, but a process whose root is
 * mapped to another user can be given paths below them: a runtime opens roots and mounts as that user.
 */
export const TRAVERSED_DIRECTORY = 0o711;

/** Files that only the agent and its programs use. */
export const PRIVATE_FILE = 0o600;
