/** A part of a cluster could not be assembled, for a reason that its message says to the user in one line. */
export class AssemblyError extends Error {
  override readonly name = 'AssemblyError';
}
