/** How scores of plugins are brought to one scale. */

export const BEST = 100;

/** The highest score becomes the best; reversed, it becomes 0 and none is the best. */
export function proportional(scores: number[], isReversed = false): void {
  let most = 0;
  for (const score of scores) most = Math.max(most, score);
  for (let i = 0; i < scores.length; i++) {
    const share = most === 0 ? 0 : Math.trunc((BEST * scores[i]!) / most);
    scores[i] = isReversed ? BEST - share : share;
  }
}
