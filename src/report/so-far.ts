import { renderEvidenceLine } from '../decide/paired/evidence-line.ts'
import { renderEvidenceSentence } from '../decide/paired/evidence-sentence.ts'
import type { PairedRule } from '../decide/paired/rule.ts'
import { evaluatePairs } from '../decide/paired/standing.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { type CampaignSpecText, getCampaignSpec } from '../spec/recorded-spec.ts'

type ProgressCampaign = Pick<Campaign, 'orders' | 'calibration'> & CampaignSpecText

/** What the pairs of an experiment under way say, and what they still need. */
export interface ExperimentProgress {
  said: string
  evidence: string
  next: string
}

/** Nothing before its first pair, nor once its pairs have decided and only the rest of its round is missing. */
export function describeExperimentProgress(
  campaign: ProgressCampaign,
  experiment: Experiment,
): ExperimentProgress | null {
  const { evidence, order } = experiment
  if (evidence === null || evidence.jobs.length === 0) return null
  const rule = order === null ? undefined : campaign.orders[order]?.order.stop
  if (rule?.rule !== 'paired') return null
  const spec = getCampaignSpec(campaign)
  const paired = { spec, rule, terms: evidence, jobs: evidence.jobs }
  const standing = evaluatePairs(paired)
  if (standing.status !== 'new-job' && standing.status !== 'continue') return null
  return {
    said: renderEvidenceSentence(paired, standing),
    evidence: renderEvidenceLine(paired, standing),
    next: describeNextJob(campaign, rule),
  }
}

function describeNextJob({ calibration }: ProgressCampaign, { single_machine, pairs }: PairedRule): string {
  const what = single_machine ? 'one more job on this machine' : 'one more runner'
  const noise = calibration?.noise ?? null
  if (noise === null) return what
  const minutes = (noise.overhead_seconds + 2 * (pairs + 1) * noise.execution_seconds) / 60
  return minutes < 1 ? `${what}, less than a minute` : `${what}, about ${Math.ceil(minutes)} min`
}
