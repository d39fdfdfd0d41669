/** Recorded with every verdict, so that a replay applies the rules the verdict was taken under (invariant 3). */
export const RULE_VERSION = '2'
