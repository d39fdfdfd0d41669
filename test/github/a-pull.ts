import type { Pull } from '../../src/github/pull.ts'

/** Offered by somebody from their fork, but for what is said. */
export function aPull(rest: Partial<Pull> = {}): Pull {
  return {
    number: 7,
    title: 'faster',
    body: '',
    branch: 'eve:faster',
    head: 'a'.repeat(40),
    base: 'optimize/size',
    author: 'eve',
    state: 'open',
    draft: false,
    comments: [],
    reviews: [],
    merged_commit: null,
    closed_at: null,
    ...rest,
  }
}
