/** Maximum share of characters in which a misspelt word differs from the intended one. */
const MAX_ERROR_SHARE = 0.4;

/** Returns the candidate with the fewest typing errors, the first of several; undefined when none is close enough. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let found: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    if (distance >= least || distance > MAX_ERROR_SHARE * Math.max(word.length, candidate.length)) continue;
    least = distance;
    found = candidate;
  }
  return found;
}

/** Counts the insertions, deletions, replacements and transpositions that turn one word into the other. */
export function editDistance(from: string, to: string): number {
  const [wide, tall] = [to.length + 1, from.length + 1];
  const rows: number[][] = [Array.from({ length: wide }, (_, column) => column)];
  for (let row = 1; row < tall; row++) {
    const [above, next] = [rows[row - 1]!, [row]];
    for (let column = 1; column < wide; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isExchanged = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        above[column]! + 1,
        next[column - 1]! + 1,
        above[column - 1]! + (isSame ? 0 : 1),
        row > 1 && column > 1 && isExchanged ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(next);
  }
  return rows[from.length]![to.length]!;
}
