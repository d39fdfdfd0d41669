import { formatCount } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isBetterAlone, type VerdictWord, verdictWordSchema } from '../model/outcome.ts'
import { isReverted } from './taken-back.ts'

/** Every experiment of a campaign once: the numbers add up to how many there are. */
export type Tally = Record<VerdictWord | 'waiting' | 'taken_back' | 'reverts', number>

type TallyCampaign = Pick<Campaign, 'experiments' | 'landings'>

export function countVerdicts(campaign: TallyCampaign): Tally {
  const words = Object.fromEntries(verdictWordSchema.options.map(word => [word, 0])) as Record<
    VerdictWord,
    number
  >
  const tally = { ...words, waiting: 0, taken_back: 0, reverts: 0 }
  for (const experiment of Object.values(campaign.experiments)) tally[getTallyKey(campaign, experiment)] += 1
  return tally
}

/** Renders it for people: "10 experiments: 3 kept, 5 no gain, 1 broken, 1 waiting". */
export function renderTally(campaign: TallyCampaign): string {
  const opened = formatCount(Object.keys(campaign.experiments).length, 'experiment')
  const verdicts = describeVerdictCounts(campaign)
  return verdicts === '' ? opened : `${opened}: ${verdicts}`
}

export function describeVerdictCounts(campaign: TallyCampaign): string {
  const experiments = Object.values(campaign.experiments)
  const better = experiments.filter(each => !isOpen(each) && isBetterAlone(each.outcome)).length
  return Object.entries(countVerdicts(campaign))
    .filter(([, count]) => count > 0)
    .map(([place, count]) => {
      const words = place === 'reverts' ? formatCount(count, 'revert') : `${count} ${WORDS[place] ?? place}`
      return place === 'no gain' && better > 0 ? `${words} (${better} better alone)` : words
    })
    .join(', ')
}

const WORDS: Readonly<Record<string, string>> = { taken_back: 'kept and taken back' }

const OPEN: ReadonlySet<Experiment['status']> = new Set(['queued', 'deferred', 'ordered', 'measured'])

/** Also after a verdict: what was not proven may be measured again. */
function isOpen({ status }: Experiment): boolean {
  return OPEN.has(status)
}

function getTallyKey(campaign: TallyCampaign, experiment: Experiment): keyof Tally {
  const { id, verdict, outcome } = experiment
  if (isOpen(experiment) || verdict === null) return 'waiting'
  if (outcome === 'revert_landed') return 'reverts'
  return isReverted(campaign, id) ? 'taken_back' : verdict
}
