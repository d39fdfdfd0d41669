import { evidenceLine } from '../decide/paired/evidence-line.ts'
import { evidenceSentence } from '../decide/paired/evidence-sentence.ts'
import type { PairedRule } from '../decide/paired/rule.ts'
import { standingOf } from '../decide/paired/standing.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { type Ruled, specOf } from '../spec/recorded-spec.ts'

type Known = Pick<Campaign, 'orders' | 'calibration'> & Ruled

/** What the pairs of an experiment under way say, and what they still need. */
export interface SoFar {
  said: string
  evidence: string
  next: string
}

/** Nothing before its first pair, nor once its pairs have decided and only the rest of its round is missing. */
export function soFarOf(campaign: Known, experiment: Experiment): SoFar | null {
  const { evidence, order } = experiment
  if (evidence === null || evidence.jobs.length === 0) return null
  const rule = order === null ? undefined : campaign.orders[order]?.order.stop
  if (rule?.rule !== 'paired') return null
  const spec = specOf(campaign)
  const paired = { spec, rule, terms: evidence, jobs: evidence.jobs }
  const standing = standingOf(paired)
  if (standing.status !== 'new-job' && standing.status !== 'continue') return null
  return {
    said: evidenceSentence(paired, standing),
    evidence: evidenceLine(paired, standing),
    next: nextText(campaign, rule),
  }
}

function nextText({ calibration }: Known, { single_machine, pairs }: PairedRule): string {
  const what = single_machine ? 'one more job on this machine' : 'one more runner'
  const noise = calibration?.noise ?? null
  if (noise === null) return what
  const minutes = (noise.overhead_seconds + 2 * (pairs + 1) * noise.execution_seconds) / 60
  return minutes < 1 ? `${what}, less than a minute` : `${what}, about ${Math.ceil(minutes)} min`
}
