/**
 * Returns how often a property that takes long is tried. The inputs differ in each run of the tests, so that a few are enough for
 * each; `PROPERTY_RUNS=20` tries twenty times as many.
 */
export const propertyRuns = (usual: number): number => Math.ceil(usual * Number(process.env.PROPERTY_RUNS ?? 1));
