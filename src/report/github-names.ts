import type { Campaign } from '../model/campaign.ts'
import { findSubject } from '../model/experiment.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { joinFirst, neutralizeMentions, toOneLine } from '../model/text.ts'
import type { Order } from '../model/order.ts'
import { selectReportedJobs } from '../model/pairs.ts'
import { type CampaignSpecText, getCampaignSpec } from '../spec/load.ts'

/** Names of workflow runs and jobs, as GitHub's list of runs shows them. */
type NamedCampaign = Pick<Campaign, 'name' | 'default_branch' | 'experiments' | 'picks' | 'landings'>
type NamedOrder = Pick<Order, 'purpose' | 'base' | 'candidates' | 'stop' | 'earlier_jobs' | 'attempt'>

const MAX_TITLE_LENGTH = 100
const MAX_SUBJECTS = 4

/** Follows the word "measure": "exp-007 vs incumbent, job 2 of at most 8". */
export function formatJobTitle(campaign: NamedCampaign, order: NamedOrder): string {
  const again = order.attempt > 1 ? `, attempt ${order.attempt}` : ''
  return toTitle(`${describeOrderSubject(campaign, order)}${describeJobNumber(order)}${again}`)
}

/** Example: "speed: measure exp-007, exp-008". */
export function formatRunTitle(campaign: NamedCampaign, orders: readonly NamedOrder[]): string {
  const subjects = [...new Set(orders.flatMap(order => listOrderSubjects(campaign, order)))]
  return toTitle(`${campaign.name}: measure ${joinFirst(subjects, MAX_SUBJECTS)}`)
}

/** For a run that plans and requests the missing work. */
export function lookTitle({ name }: Pick<Campaign, 'name'>): string {
  return toTitle(`${name}: look for work`)
}

/** For a run that reads a review in the place of the run that GitHub started for it. */
export function reviewTitle(pull: number): string {
  return `review of #${pull}`
}

const RETRY_SUFFIX = ': look for work again'

/** For a run that repeats one whose first job was lost. */
export function retryTitle({ name }: Pick<Campaign, 'name'>): string {
  return toTitle(`${name}${RETRY_SUFFIX}`)
}

export function isRetryTitle(title: string): boolean {
  return title.endsWith(RETRY_SUFFIX)
}

/** Branch names are foreign text: they must not mention users or skip workflows. */
function toTitle(text: string): string {
  return neutralizeMentions(toOneLine(text, MAX_TITLE_LENGTH))
}

function describeOrderSubject(campaign: NamedCampaign, order: NamedOrder): string {
  const main = toShortRef(campaign.default_branch)
  const [subject = 'the incumbent'] = listOrderSubjects(campaign, order)
  switch (order.purpose) {
    case 'calibration':
      return order.stop.rule === 'pairs'
        ? 'calibration: how noisy it is'
        : 'calibration: whether it repeats exactly'
    case 'baseline':
      return 'baseline of the incumbent'
    case 'experiment':
      return `${joinCandidates(order)} vs incumbent`
    case 'combination':
      return `${joinCandidates(order)} on top of what was kept`
    case 'pick':
      return `${joinCandidates(order)} vs ${main}`
    case 'holdout':
      return `${joinCandidates(order)} on the holdout`
    case 'sync':
      return `merge of ${main} into the incumbent`
    case 'foreign':
      return `commit ${order.candidates[0]?.head.slice(0, 7) ?? ''}, pushed by a person`
    case 'revert':
      return `revert: ${joinCandidates(order)} vs incumbent`
    case 'progression':
      return `total improvement: incumbent vs ${main}`
    case 'effect':
      return `effect of ${subject}`
    case 'regression':
      return `whether ${subject} still holds`
    case 'probe':
      return 'probes: which tricks the harness notices'
    default:
      return order.purpose satisfies never
  }
}

/** The shortest text that distinguishes the order from the others of its run. */
function listOrderSubjects(campaign: NamedCampaign, { purpose, base, candidates }: NamedOrder): string[] {
  const named = candidates.flatMap(({ label }) => (findSubject(campaign, label) === undefined ? [] : [label]))
  if (named.length > 0) return named
  const landing = campaign.landings.find(
    each =>
      (purpose === 'regression' && each.base.commit === base.commit) ||
      (purpose === 'effect' && each.commit === candidates[0]?.head),
  )
  if (landing !== undefined) return [landing.experiment]
  return purpose === 'progression' ? ['total improvement'] : [purpose]
}

function joinCandidates({ candidates }: NamedOrder): string {
  return candidates.map(({ label }) => label).join(' and ')
}

function describeJobNumber({ stop, earlier_jobs }: NamedOrder): string {
  if (stop.rule !== 'paired') return ''
  const counts = Object.entries(stop.terms).map(([label, { max_jobs: most }]) => ({
    most,
    job: selectReportedJobs(earlier_jobs[label] ?? []).length + 1,
  }))
  const last = counts.toSorted((one, other) => other.job - one.job)[0]
  return last === undefined ? '' : `, job ${last.job} of at most ${last.most}`
}

// Links

/** Web address such as https://github.com/owner/name; null where the repository has none. */
export type PageUrl = string | null

const ACTIONS_RUN = /^actions:(\d+)\/\d+$/

/** Returns null for a run on a person's machine. */
export function buildRunUrl(page: PageUrl, runId: string): string | null {
  const [, run] = ACTIONS_RUN.exec(runId) ?? []
  return page === null || run === undefined ? null : `${page}/actions/runs/${run}`
}

/** `blob/…?raw=true` works for every reader; raw.githubusercontent.com answers 404 in private repositories. */
export function buildChartUrl(
  page: PageUrl,
  campaign: Pick<Campaign, 'name'> & CampaignSpecText,
): string | null {
  if (page === null) return null
  const branch = toShortRef(buildCampaignRefs(getCampaignSpec(campaign).branches.prefix, campaign.name).state)
  const path = [...branch.split('/'), 'chart.svg'].map(part => encodeURIComponent(part)).join('/')
  return `${page}/blob/${path}?raw=true`
}
