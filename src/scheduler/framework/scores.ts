/** Normalizes the scores of plugins. */

export const MAX_SCORE = 100;

/** Scales scores so that the highest becomes the maximum; reversed, it becomes 0. */
export function proportional(scores: number[], isReversed = false): void {
  let most = 0;
  for (const score of scores) most = Math.max(most, score);
  for (let i = 0; i < scores.length; i++) {
    const share = most === 0 ? 0 : Math.trunc((MAX_SCORE * scores[i]!) / most);
    scores[i] = isReversed ? MAX_SCORE - share : share;
  }
}
