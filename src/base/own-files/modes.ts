/**
 * Modes of directories and files of a node. Nothing in them is for other users of the machine. Root, and the user who runs the agent,
 * reach everything; what others may do at all is decided here.
 */

/** Directories that only the agent and its programs use. */
export const PRIVATE_DIRECTORY = 0o700;

/**
 * Directories on the way to roots of containers and to volumes. Their names cannot be listed, but a process whose root is mapped to
 * another user can be given what is below them: a runtime opens roots and mounts as that user.
 */
export const TRAVERSED_DIRECTORY = 0o711;

/** Files that only the agent and its programs use. */
export const PRIVATE_FILE = 0o600;
