import { traceEvidence, type PathPair } from '../decide/paired/evidence-path.ts'
import type { PairedRule } from '../decide/paired/rule.ts'
import type { PairedTerms } from '../model/order.ts'
import type { Pair } from '../model/pairs.ts'
import type { PairStory } from './pair-story.ts'

/** Raw pairs as `winnow show --json` prints them: enough for anybody to compute every verdict again. */
export interface PairView {
  purpose: PairStory['purpose']
  base_tree: string
  tree: string
  rule: Omit<PairedRule, 'terms'>
  terms: PairedTerms
  jobs: JobView[]
}

interface JobView {
  order: string
  runner: string
  complete: boolean
  fresh: boolean
  screened: boolean
  minutes: number
  pairs: (Pair & Pick<PathPair, 'difference' | 'evidence'>)[]
}

export function toPairView(story: PairStory): PairView {
  const { purpose, base, tree, rule, terms, minutes } = story
  const { terms: _, ...common } = rule
  const path = traceEvidence(story)
  const jobs = story.jobs.map(({ order, runner, complete, pairs }, at): JobView => {
    const { fresh = false, screened = false, pairs: weighed = [] } = path[at] ?? {}
    return {
      order,
      runner,
      complete,
      fresh,
      screened,
      minutes: minutes[order] ?? 0,
      pairs: pairs.map((pair, index) => ({ ...pair, ...toPairWeight(weighed[index]) })),
    }
  })
  return { purpose, base_tree: base.tree, tree, rule: common, terms, jobs }
}

function toPairWeight(pair: PathPair | undefined): Pick<PathPair, 'difference' | 'evidence'> {
  return { difference: pair?.difference ?? null, evidence: pair?.evidence ?? 1 }
}
