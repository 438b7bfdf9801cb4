/** Why a metric says nothing now, in the words that people read in events and conditions. */
export class Unmeasurable extends Error {
  override readonly name = 'Unmeasurable';
}
