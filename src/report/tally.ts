import { plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isBetterAlone, type VerdictWord, verdictWord } from '../model/outcome.ts'
import { isTakenBack } from './taken-back.ts'

/** Every experiment of a campaign once: the numbers add up to how many there are. */
export type Tally = Record<VerdictWord | 'waiting' | 'taken_back' | 'reverts', number>

type Counted = Pick<Campaign, 'experiments' | 'landings'>

export function tallyOf(campaign: Counted): Tally {
  const words = Object.fromEntries(verdictWord.options.map(word => [word, 0])) as Record<VerdictWord, number>
  const tally = { ...words, waiting: 0, taken_back: 0, reverts: 0 }
  for (const experiment of Object.values(campaign.experiments)) tally[placeOf(campaign, experiment)] += 1
  return tally
}

/** Renders it for people: "10 experiments: 3 kept, 5 no gain, 1 broken, 1 waiting". */
export function tallyText(campaign: Counted): string {
  const opened = plural(Object.keys(campaign.experiments).length, 'experiment')
  const verdicts = verdictsText(campaign)
  return verdicts === '' ? opened : `${opened}: ${verdicts}`
}

export function verdictsText(campaign: Counted): string {
  const experiments = Object.values(campaign.experiments)
  const better = experiments.filter(each => !isOpen(each) && isBetterAlone(each.outcome)).length
  return Object.entries(tallyOf(campaign))
    .filter(([, count]) => count > 0)
    .map(([place, count]) => {
      const words = place === 'reverts' ? plural(count, 'revert') : `${count} ${WORDS[place] ?? place}`
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

function placeOf(campaign: Counted, experiment: Experiment): keyof Tally {
  const { id, verdict, outcome } = experiment
  if (isOpen(experiment) || verdict === null) return 'waiting'
  if (outcome === 'revert_landed') return 'reverts'
  return isTakenBack(campaign, id) ? 'taken_back' : verdict
}
