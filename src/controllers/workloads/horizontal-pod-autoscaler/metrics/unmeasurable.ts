/** Why a metric has no value now, as events and conditions report it. */
export class Unmeasurable extends Error {
  override readonly name = 'Unmeasurable';
}
