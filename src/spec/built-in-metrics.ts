/** Measured by winnow around every execution; a harness that prints one of these is wrong. */
export const BUILT_IN_METRICS: ReadonlySet<string> = new Set(['wall_seconds', 'cpu_seconds', 'max_rss_mb'])
