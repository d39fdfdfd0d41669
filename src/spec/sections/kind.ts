/** Which set of defaults holds: `winnow: 1`, or a ce-optimize spec. */
export type SpecRules = 'winnow' | 'ce'

/** Where a campaign runs, as far as defaults depend on it. */
export type SpecEnvironment = { host: 'local' | 'github'; privateRepository: boolean }
